import Foundation
import Graft
import GraftFormats
import GraftLearning

/// `graft train`: trains parameters of a model on examples from files.
enum TrainCommand: Command {
  static let specification = CommandSpecification(
    name: "train", summary: "Train a model on examples from files",
    positionals: "MODEL", positionalCount: 1...1,
    options: exampleOptions + TrainingArguments.options + runOptions,
    example: "graft train model.onnx --examples set.safetensors --trainable 'classifier.*' "
      + "--epochs 3 --batch-size 8 --export trained.onnx",
    notes: "Files may differ in open dimensions; a batch never crosses a file. Gradients of "
      + "accumulated batches are\nadded, not averaged; groups run across the ends of epochs, and a "
      + "rest is applied when training ends.\n"
      + "Outputs never replace inputs: '--export' takes another name than MODEL. Ctrl-C ends training\n"
      + "after the current step, writes what was learned until then, and exits with 1.")

  private static let exampleOptions: [OptionSpecification] = [
    .many(
      "--examples", "FILE",
      "safetensors files: one tensor per input with the examples on the first axis, and 'target'"),
    .value("--output", "NAME", "the output that the loss looks at; the first by default"),
  ]

  private static let runOptions: [OptionSpecification] = [
    .many(
      "--trainable", "REGEX", "parameters to train, by their whole name or their node's"),
    .value("--trainable-after", "VALUE", "train all parameters behind this value"),
    .value("--batch-normalization", "MODE", "auto (default), train or frozen"),
    .value("--epochs", "N", "passes over the examples; 1, or as many as --steps takes"),
    .value("--steps", "N", "updates after which training ends"),
    .value("--batch-size", "N", "examples per batch, 1"),
    .value("--accumulate", "N", "batches whose gradients are added up before an update, 1"),
    .flag("--shuffle", "draw the examples in random order"),
    .flag("--no-shuffle", "take the examples in the order given (default)"),
    .value("--seed", "N", "of the random order, 0"),
    .value(
      "--feature-cache", "FOLDER",
      "keep there what frozen layers make of the examples, for later calls"),
    .value("--threads", "N", "threads; all cores by default"),
    .value(
      "--log", "FILE", "one JSON line per batch: step and epoch from 1, loss, learning rate"),
    .value("--parameters-out", "FILE", "file for the parameters that changed, .safetensors"),
    .value("--export", "FILE", "the trained model, .onnx"),
    .value("--opset", "N", "opset of the exported model"),
  ]

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let files = arguments.all("--examples")
    guard !files.isEmpty else { throw UsageError("the option '--examples' is missing") }
    guard !(arguments.has("--shuffle") && arguments.has("--no-shuffle")) else {
      throw UsageError("'--shuffle' and '--no-shuffle' exclude each other")
    }
    let loss = try TrainingArguments.loss(arguments)
    let optimizer = try TrainingArguments.optimizer(arguments)
    let fitOptions = try fitOptions(arguments)
    let options = try options(arguments)
    let selection = try selection(arguments)
    let opset = try arguments.int("--opset", in: 7...22)
    let outputs = try Outputs(arguments)
    if !outputs.keepsResult {
      console.note("nothing will be kept: '--export' or '--parameters-out' writes what is learned")
    }
    let path = arguments.positionals[0]
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    let data = try files.map { try ExampleSet(safetensors: URL(fileURLWithPath: $0)) }
    let session = try locating(path) {
      try TrainingSession(
        model, output: arguments.string("--output"), trainable: selection, loss: loss,
        optimizer: optimizer, options: options)
    }
    if let out = outputs.model, let opset {
      // What the opset cannot express is found before training, not after.
      try locating(out) { _ = try ONNXWriter.encode(session.model, opset: opset) }
    }
    console.note("training \(session.trainable.count) of \(model.parameters.count) parameters")
    let isWhole = try await train(session, data, fitOptions, outputs, console)
    console.clearProgress()
    if let out = outputs.parameters {
      try SafetensorsFile.write(session.changedParameters, to: out)
      console.print("wrote \(out)")
    }
    if let out = outputs.model {
      try session.model.write(to: URL(fileURLWithPath: out), opset: opset)
      console.print("wrote \(out)")
    }
    guard isWhole else {
      let rest = outputs.keepsResult ? "; what was learned until then is written" : ""
      throw GraftError(
        .cancelled, "training was interrupted after step \(session.updateCount)\(rest)")
    }
  }

  /// The files that the call writes.
  private struct Outputs {
    let model: String?
    let parameters: String?
    let log: String?

    var keepsResult: Bool { model != nil || parameters != nil }

    init(_ arguments: Arguments) throws {
      model = arguments.string("--export")
      parameters = arguments.string("--parameters-out")
      log = arguments.string("--log")
      var files = CallFiles()
      try files.read(arguments.positionals[0], "the model")
      for path in arguments.all("--examples") { try files.read(path, "'--examples'") }
      if let model { try files.write(model, "--export", .model) }
      if let parameters { try files.write(parameters, "--parameters-out", .tensors) }
      if let log { try files.write(log, "--log", .lines) }
    }
  }

  /// Trains until the end, or until the user or the task's owner ends it.
  ///
  /// - Returns: whether it came to the end.
  private static func train(
    _ session: TrainingSession, _ data: [ExampleSet], _ options: FitOptions, _ outputs: Outputs,
    _ console: Console
  ) async throws -> Bool {
    let log = try outputs.log.map(LineFile.init)
    let interrupt = Interrupt {
      console.note("ending after this step; Ctrl-C again ends at once")
    }
    var last: TrainingEvent?
    do {
      for try await event in try session.fit(data, options) {
        try report(event, options, log, console)
        if event.kind == .batch || event.kind == .epoch { last = event }
        if interrupt.isRequested { return false }
      }
    } catch let error as GraftError where error.code == .cancelled {
      return false
    }
    if let last, last.kind == .batch {
      console.print("step \(last.step): loss \(last.loss.short)")
    }
    return true
  }

  private static func report(
    _ event: TrainingEvent, _ options: FitOptions, _ log: LineFile?, _ console: Console
  ) throws {
    switch event.kind {
    case .batch:
      try log?.write(
        LogLine(
          step: event.step, epoch: event.epoch, loss: event.batchLoss,
          learningRate: Double(event.learningRate)))
      let done = Double(event.epoch - 1) + Double(event.batch) / Double(event.batchCount)
      let fraction =
        options.updates.map { Double(event.step) / Double($0) }
        ?? done / Double(options.epochs ?? 1)
      console.progress(fraction, "epoch \(event.epoch), loss \(event.loss.short)")
    case .epoch:
      console.print("epoch \(event.epoch): loss \(event.loss.short)")
    case .begin, .checkpoint, .end: break
    }
  }

  private struct LogLine: Encodable {
    let step: Int
    let epoch: Int
    let loss: Double
    let learningRate: Double

    enum CodingKeys: String, CodingKey {
      case step
      case epoch
      case loss
      case learningRate = "learning_rate"
    }
  }

  private static func selection(_ arguments: Arguments) throws -> ParameterSelection {
    let patterns = arguments.all("--trainable")
    let after = arguments.string("--trainable-after").map(ParameterSelection.after)
    if patterns.isEmpty, let after { return after }
    guard !patterns.isEmpty else {
      throw UsageError(
        "nothing is chosen for training",
        fix: "Give '--trainable REGEX' or '--trainable-after VALUE'")
    }
    let matching = ParameterSelection.matching(patterns)
    return after.map(matching.union) ?? matching
  }

  private static func options(_ arguments: Arguments) throws -> TrainingOptions {
    var options = TrainingOptions()
    try TrainingArguments.readUpdates(arguments, into: &options)
    options.accumulation = try arguments.int("--accumulate") ?? 1
    options.threads = try arguments.threads()
    options.featureFolder = arguments.string("--feature-cache").map {
      URL(fileURLWithPath: $0, isDirectory: true)
    }
    let modes = BatchNormalizationMode.allCases.map(\.rawValue)
    if let mode = try arguments.choice("--batch-normalization", modes) {
      options.batchNormalization = BatchNormalizationMode(rawValue: mode) ?? .auto
    }
    return options
  }

  private static func fitOptions(_ arguments: Arguments) throws -> FitOptions {
    let steps = try arguments.int("--steps")
    let epochs = try arguments.int("--epochs")
    let seed = UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
    return FitOptions(
      epochs: epochs ?? (steps == nil ? 1 : nil), updates: steps,
      batchSize: try arguments.int("--batch-size") ?? 1,
      shuffleSeed: arguments.has("--shuffle") ? seed : nil)
  }
}

extension Double {
  /// Four significant digits.
  var short: String { String(format: "%.4g", self) }
}
