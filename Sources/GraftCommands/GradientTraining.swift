import Foundation
import Graft
import GraftLearning

/// Trains parameters of a model by gradients.
struct GradientTraining {
  let call: TrainingCall
  let recipe: TrainingRecipe

  func run() async throws {
    let session = try locating(call.modelPlace) { try recipe.session(call.model, call.data) }
    try call.check(session.model)
    let options = recipe.fitOptions
    let checkpoint = try call.choice.checkpoint()
    let run = try session.fit(
      call.data.training, validation: call.data.validation, options, resuming: checkpoint)
    try call.configure(
      trainable: session.trainable, session.hyperParameters + options.hyperParameters)
    if let checkpoint, let epochs = options.epochs, checkpoint.epoch >= epochs {
      call.console.note(
        "the run has its \(epochs) epochs already, \(checkpoint.epoch) in all; more '--epochs' make it go "
          + "on")
    }
    call.console.note(
      "training \(session.trainable.count) of \(session.model.parameters.count) parameters")
    let log = try call.arguments.string("--log").map(LineFile.init)
    let loop = TrainingLoop(
      options: options, log: log, console: call.console, emit: call.emit, fail: call.fail)
    var end = try await loop.run(run, epochsBefore: checkpoint?.epoch ?? 0)
    end.step = session.updateCount
    try call.finish(session.model, parameters: session.changedParameters, end)
  }
}

/// How a call of `graft train` wants parameters trained.
struct TrainingRecipe {
  let fitOptions: FitOptions
  private let arguments: Arguments
  private let loss: Loss
  private let optimizer: Optimizer
  private let accumulation: Int
  private let selection: ParameterSelection?
  private let output: String?
  private let seed: UInt64
  private let replacesLayer: Bool

  /// - Parameter folder: where checkpoints are kept; nil for none.
  init(_ arguments: Arguments, in folder: RunFolder?) throws {
    self.arguments = arguments
    loss = try TrainingArguments.loss(arguments)
    optimizer = try TrainingArguments.optimizer(arguments)
    var fitOptions = try FitArguments.fitOptions(arguments)
    fitOptions.checkpoints = try folder.map { try RunArguments.checkpoints(arguments, in: $0) }
    self.fitOptions = fitOptions
    accumulation = try FitArguments.trainingOptions(arguments).accumulation
    let kind = try HeadArguments.kind(arguments)
    selection = try FitArguments.selection(arguments)
    seed = try FitArguments.seed(arguments)
    output = arguments.string("--output")
    replacesLayer = kind == "layer"
    guard selection != nil || kind != nil else {
      throw UsageError(
        "nothing is chosen for training",
        fix: "Give '--trainable REGEX', '--trainable-after VALUE' or '--head KIND'")
    }
  }

  func session(_ model: Model, _ data: TrainingData) throws -> TrainingSession {
    var model = model
    var selection = selection
    if replacesLayer {
      let names = try model.replaceHead(classes: try data.classNames(), seed: seed)
      selection =
        selection ?? .matching(names.map { NSRegularExpression.escapedPattern(for: $0) })
    }
    let updates = try fitOptions.updateCount(of: data.training, accumulation: accumulation)
    let options = try FitArguments.trainingOptions(arguments, updates: updates)
    return try TrainingSession(
      try data.noting(in: model), output: output, trainable: selection ?? .all, loss: loss,
      optimizer: optimizer, options: options)
  }
}
