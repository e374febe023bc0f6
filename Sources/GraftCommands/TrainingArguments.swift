import Foundation
import Graft

/// The options of all commands that train: loss, optimizer, schedule, clipping and groups.
enum TrainingArguments {
  /// All of them, for a command's specification.
  static let options = lossOptions + optimizerOptions + updateOptions + scheduleOptions

  static let lossOptions: [OptionSpecification] = [
    .value(
      "--loss", "NAME", "cross-entropy (default), mse, bce or l1", standard: "cross-entropy"),
    .value("--class-weights", "W,W,...", "cross-entropy: a weight for each class"),
    .value("--ignore-index", "I", "cross-entropy: a class number that counts for nothing"),
    .value("--label-smoothing", "S", "cross-entropy: share of targets spread over all classes, 0"),
    .value("--pos-weight", "W[,W...]", "bce: weight of positive targets"),
    .repeated(
      "--add-loss", "NAME[,weight=W][,output=VALUE][,target=TENSOR]",
      "a further loss that is added, W times (1): of another value of the model, with targets in "
        + "another tensor of the examples"),
  ]

  static let optimizerOptions: [OptionSpecification] = [
    .value(
      "--optimizer", "NAME",
      "adamw (default; ONNX Runtime's form), adamw-pytorch, adam, sgd, rmsprop or adagrad",
      standard: "adamw"),
    .value("--learning-rate", "RATE", "step size; 0.01, or 0.001 for adam and adamw"),
    .value("--weight-decay", "D", "how strongly parameters are drawn to 0; 0, adamw-pytorch 0.01"),
    .value("--l1-penalty", "L", "factor of the sum of all absolute values of parameters, 0"),
    .value("--beta1", "B", "adam, adamw: decay of the first moment, 0.9"),
    .value("--beta2", "B", "adam, adamw: decay of the second moment, 0.999"),
    .value("--epsilon", "E", "added to roots; 1e-8, adamw 1e-6, adagrad 1e-10"),
    .value("--momentum", "M", "sgd, rmsprop: share of the last step that is kept, 0"),
    .value("--dampening", "D", "sgd: share of gradients that the momentum does not take in, 0"),
    .flag("--nesterov", "sgd: momentum in Nesterov's form"),
    .value("--alpha", "A", "rmsprop: decay of the mean of squares, 0.99"),
    .flag("--centered", "rmsprop: divide by the deviation instead of the mean square"),
    .value("--rate-decay", "D", "adagrad: how fast the learning rate falls, 0"),
    .value("--initial-accumulator", "A", "adagrad: what the sum of squares begins with, 0"),
  ]

  static let updateOptions: [OptionSpecification] = [
    .value("--clip-norm", "N", "largest norm of all gradients together"),
    .value("--clip-value", "V", "largest absolute value in a gradient"),
    .repeated(
      "--group", "REGEX=FACTOR[,DECAY]",
      "factor of the learning rate, and weight decay, for some parameters; the first match counts"),
  ]

  /// The loss: '--loss', and what '--add-loss' adds to it.
  static func loss(_ arguments: Arguments) throws -> Loss {
    let loss = try mainLoss(arguments)
    let others = try arguments.all("--add-loss").map(AddedLoss.term)
    return others.isEmpty ? loss : .sum([LossTerm(loss)] + others)
  }

  private static func mainLoss(_ arguments: Arguments) throws -> Loss {
    let name = try arguments.choice("--loss", AddedLoss.names) ?? "cross-entropy"
    try refuse(
      [
        "--class-weights": ["cross-entropy"], "--ignore-index": ["cross-entropy"],
        "--label-smoothing": ["cross-entropy"], "--pos-weight": ["bce"],
      ], of: "loss", name, arguments)
    switch name {
    case "mse": return .meanSquaredError
    case "l1": return .meanAbsoluteError
    case "bce":
      return .binaryCrossEntropy(
        positiveWeights: try arguments.floats("--pos-weight", .notNegative))
    default:
      return .crossEntropy(
        classWeights: try arguments.floats("--class-weights", .notNegative),
        ignoreIndex: try arguments.int("--ignore-index", in: Int.min...Int.max),
        labelSmoothing: try arguments.float("--label-smoothing", .share) ?? 0)
    }
  }

  /// Sets what `options` says about the updates: schedule, clipping and groups.
  ///
  /// - Parameter updates: of the whole run, where that is known already.
  static func readUpdates(
    _ arguments: Arguments, updates: Int?, into options: inout TrainingOptions
  ) throws {
    options.clipNorm = try arguments.float("--clip-norm", .positive)
    options.clipValue = try arguments.float("--clip-value", .positive)
    options.groups = try arguments.all("--group").map(group)
    options.schedule = try schedule(arguments, over: updates ?? 1)
  }

  private static func group(_ text: String) throws -> ParameterGroup {
    func wrong() -> UsageError {
      UsageError(
        "'\(text)' is no value for '--group'",
        fix: "Give a regular expression, '=', a factor, and if need be ',' and a weight decay")
    }
    guard let sign = text.lastIndex(of: "="), sign > text.startIndex else { throw wrong() }
    let numbers = text[text.index(after: sign)...]
      .split(separator: ",", omittingEmptySubsequences: false)
      .map { Float($0.trimmingCharacters(in: .whitespaces)) }
    guard (1...2).contains(numbers.count), let factor = numbers[0],
      numbers.count == 1 || numbers[1] != nil
    else { throw wrong() }
    return ParameterGroup(
      selection: .matching(String(text[..<sign])), learningRateFactor: factor,
      weightDecay: numbers.count == 2 ? numbers[1] : nil)
  }

  /// Refuses options that belong to other choices than `name`.
  ///
  /// - Parameters:
  ///   - owners: for each option the choices it belongs to.
  ///   - kind: what is chosen.
  static func refuse(
    _ owners: KeyValuePairs<String, [String]>, of kind: String, _ name: String,
    _ arguments: Arguments
  ) throws {
    for (option, names) in owners where !names.contains(name) {
      guard arguments.string(option) != nil || arguments.has(option) else { continue }
      throw UsageError(
        "'\(option)' belongs to the \(kind) \(names.joined(separator: " or ")), not to \(name)")
    }
  }
}
