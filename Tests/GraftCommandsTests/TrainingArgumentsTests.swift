import Graft
import Testing

@testable import GraftCommands

private let specification = CommandSpecification(
  name: "train", summary: "", options: TrainingArguments.options, example: "")

private func arguments(_ words: String) throws -> Arguments {
  try Arguments(words.split(separator: " ").map(String.init), for: specification)
}

struct TrainingArgumentsTests {
  @Test func `every option is named once`() {
    let names = TrainingArguments.options.map(\.name)
    #expect(Set(names).count == names.count)
  }

  @Test(arguments: [
    ("", Optimizer.adamW()),
    ("--optimizer adamw --epsilon 1e-5", .adamW(epsilon: 1e-5)),
    ("--optimizer adamw-pytorch", .adamW(form: .pyTorch)),
    (
      "--optimizer adamw-pytorch --weight-decay 0 --beta1 0.5",
      .adamW(form: .pyTorch, beta1: 0.5, weightDecay: 0)
    ),
    ("--optimizer adam --learning-rate 0.1", .adam(learningRate: 0.1)),
    ("--optimizer sgd", .sgd()),
    ("--optimizer sgd --momentum 0.9 --nesterov", .sgd(momentum: 0.9, nesterov: true)),
    ("--optimizer sgd --momentum 0.9 --dampening 0.5", .sgd(momentum: 0.9, dampening: 0.5)),
    ("--optimizer rmsprop --alpha 0.9 --centered", .rmsProp(alpha: 0.9, centered: true)),
    (
      "--optimizer adagrad --rate-decay 0.1 --initial-accumulator 1",
      .adagrad(rateDecay: 0.1, initialAccumulator: 1)
    ),
  ])
  func `an optimizer is what its options say`(words: String, optimizer: Optimizer) throws {
    #expect(try TrainingArguments.optimizer(arguments(words)) == optimizer)
    var penalized = optimizer
    penalized.l1 = 0.25
    #expect(
      try TrainingArguments.optimizer(arguments(words + " --l1-penalty 0.25")) == penalized)
  }

  @Test(arguments: [
    ("", LearningRateSchedule.constant),
    ("--warmup-steps 5", .linearWarmUp(steps: 5)),
    ("--warmup-steps 0", .constant),
    ("--schedule step --schedule-steps 10", .step(every: 10, factor: 0.1)),
    (
      "--schedule multi-step --schedule-milestones 3,8 --schedule-factor 0.5",
      .multiStep(after: [3, 8], factor: 0.5)
    ),
    ("--schedule exponential --schedule-factor 0.99", .exponential(factor: 0.99)),
    (
      "--warmup-steps 5 --schedule cosine --schedule-steps 95 --schedule-minimum 0.1",
      .linearWarmUp(steps: 5, then: .cosine(steps: 95, minimum: 0.1))
    ),
    ("--schedule linear --schedule-steps 7", .linear(steps: 7)),
    ("--schedule cosine", .cosine(steps: 100)),
    ("--schedule linear --warmup-steps 30", .linearWarmUp(steps: 30, then: .linear(steps: 70))),
    ("--schedule plateau --schedule-patience 2", .reduceOnPlateau(patience: 2)),
  ])
  func `a schedule is what its options say`(words: String, schedule: LearningRateSchedule) throws {
    var options = TrainingOptions()
    try TrainingArguments.readUpdates(arguments(words), updates: 100, into: &options)
    #expect(options.schedule == schedule)
    try options.check()
  }

  @Test func `clipping and groups are what their options say`() throws {
    var options = TrainingOptions()
    try TrainingArguments.readUpdates(
      arguments("--clip-norm 1 --clip-value 0.5 --group fc.*=0.1 --group a=b=2,0.25"),
      updates: nil, into: &options)
    #expect(options.clipNorm == 1)
    #expect(options.clipValue == 0.5)
    #expect(options.groups.map(\.learningRateFactor) == [0.1, 2])
    #expect(options.groups.map(\.weightDecay) == [nil, 0.25])
  }

  @Test func `a loss is what its options say`() throws {
    let names = ["cross-entropy", "mse", "bce", "l1"]
    let losses = try names.map { try TrainingArguments.loss(arguments("--loss \($0)")).name }
    #expect(
      losses == [
        "cross entropy", "mean squared error", "binary cross entropy", "mean absolute error",
      ])
  }

  @Test func `further losses are added with their weights`() throws {
    #expect(
      try TrainingArguments.loss(
        arguments("--add-loss mse,weight=0.5,output=age,target=ages --add-loss l1,output=hidden")
      ).name == "cross entropy + mean squared error + mean absolute error")
    let term = try AddedLoss.term("bce,target=t, weight=-2")
    #expect(term.weight == -2 && term.target == "t" && term.output == nil)
    #expect(try AddedLoss.term("l1").weight == 1)
  }

  @Test(arguments: [
    ("--optimizer adm", "Did you mean 'adam'?"),
    ("--optimizer sgd --alpha 0.5", "'--alpha' belongs to the optimizer rmsprop, not to sgd"),
    ("--nesterov", "'--nesterov' belongs to the optimizer sgd, not to adamw"),
    ("--momentum 0.9", "belongs to the optimizer sgd or rmsprop, not to adamw"),
    ("--loss mse --label-smoothing 0.1", "belongs to the loss cross-entropy, not to mse"),
    ("--add-loss msee", "'msee' is no value for '--add-loss'. Did you mean 'mse'?"),
    ("--add-loss mse,wieght=2", "Did you mean 'weight'?"),
    ("--add-loss mse,weight=x", "Give a number as the weight"),
    ("--add-loss mse,weight=1,weight=2", "Give 'weight' once"),
    ("--add-loss mse,output=", "'mse,output=' is no value for '--add-loss'"),
    ("--schedule step", "the option '--schedule-steps' is missing"),
    ("--schedule exponential", "the option '--schedule-factor' is missing"),
    ("--schedule multi-step", "the option '--schedule-milestones' is missing"),
    (
      "--schedule multi-step --schedule-milestones 3,,4",
      "'3,,4' is no value for '--schedule-milestones'"
    ),
    ("--schedule-patience 3", "belongs to the schedule plateau, not to constant"),
    ("--schedule linear --schedule-steps 0", "'0' is no value for '--schedule-steps'"),
    ("--learning-rate -1", "'-1' is no value for '--learning-rate'. Give a number above 0"),
    ("--clip-norm 0", "'0' is no value for '--clip-norm'"),
    ("--label-smoothing 2", "Give a number from 0 to 1"),
    ("--class-weights 1,-1", "'-1' is no value for '--class-weights'"),
    ("--beta1 1", "'1' is no value for '--beta1'. Give a number from 0 to below 1"),
    ("--optimizer sgd --momentum nan", "'nan' is no value for '--momentum'"),
    ("--schedule linear --schedule-minimum 2", "'2' is no value for '--schedule-minimum'"),
    ("--group fc", "'fc' is no value for '--group'"),
    ("--group =2", "'=2' is no value for '--group'"),
    ("--group fc=", "'fc=' is no value for '--group'"),
    ("--group fc=1,2,3", "'fc=1,2,3' is no value for '--group'"),
  ])
  func `options that do not fit are refused`(words: String, text: String) {
    #expect {
      let arguments = try arguments(words)
      var options = TrainingOptions()
      _ = try TrainingArguments.loss(arguments)
      _ = try TrainingArguments.optimizer(arguments)
      try TrainingArguments.readUpdates(arguments, updates: nil, into: &options)
    } throws: {
      "\($0)".contains(text)
    }
  }
}
