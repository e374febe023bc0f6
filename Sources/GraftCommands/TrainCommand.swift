import Foundation
import Graft
import GraftLearning

/// `graft train`: trains parameters of a model on examples from files.
enum TrainCommand: Command {
  static let specification = CommandSpecification(
    name: "train", summary: "Train a model on examples from files",
    positionals: "MODEL", positionalCount: 0...1, options: options,
    example: "graft train model.onnx --data pictures --validation 0.2 --trainable 'classifier.*' "
      + "--epochs 20 --batch-size 8 --run pictures",
    notes: """
      A run keeps everything in one folder: config.json, history.json, log.jsonl, curves.svg,
      checkpoints and model.onnx. '--data' without '--run' and '--export' makes the run
      runs/MODEL-1. 'graft train --run NAME --resume' goes on where a run stopped, however it was
      ended, and ends with the same bytes as if it had never stopped; with more '--epochs' a run
      that is done goes on too. 'graft runs watch NAME' shows what it does.

      Files may differ in open dimensions; a batch never crosses a file. Gradients of accumulated
      batches are added, not averaged; groups run across the ends of epochs, and a rest is applied
      when training ends. Outputs never replace inputs: '--export' takes another name than MODEL.

      Exit codes: 0 done, 1 failed or interrupted, 64 wrong usage, 65 bad model or data. Ctrl-C ends
      training after the current step, writes what was learned until then, and exits with 1.
      """)

  private static let options: [OptionSpecification] = [
    DataArguments.options, DataArguments.trainingOptions, RunArguments.options,
    FitArguments.options, TrainingArguments.options, outputOptions,
  ].flatMap(\.self)

  private static let outputOptions: [OptionSpecification] = [
    .value("--log", "FILE", "one JSON line per batch: step and epoch from 1, loss, learning rate"),
    .value("--parameters-out", "FILE", "file for the parameters that changed, .safetensors"),
    .value("--export", "FILE", "the trained model, .onnx"),
    .value("--opset", "N", "opset of the exported model"),
    .flag("--json", "print every event as one JSON object on a line"),
  ]

  static func run(_ given: Arguments, _ console: Console) async throws {
    let choice = try RunChoice(given, console)
    let arguments = try choice.merged(given)
    let path = try choice.modelPath(arguments)
    let dataPaths = try DataArguments.paths(arguments)
    let recipe = try TrainingRecipe(arguments)
    let outputs = try TrainingOutputs(arguments, model: path, data: dataPaths)
    if choice.folder == nil, !outputs.keepsResult {
      console.note("nothing will be kept: '--export' or '--parameters-out' writes what is learned")
    }
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    let data = try TrainingData(arguments, for: model)
    let session = try locating(path) { try recipe.session(model, data) }
    try outputs.check(session)
    let display = TrainingDisplay(console, printsJSON: arguments.has("--json"))
    let recorder = try choice.folder.map { folder in
      try RunRecorder(folder) { display.show($0) }
    }
    if let recorder {
      try configure(recorder, choice, arguments, path, data, session, recipe.fitOptions)
    }
    console.note("training \(session.trainable.count) of \(model.parameters.count) parameters")
    func emit(_ event: RunEvent) {
      if let recorder { recorder.record(event) } else { display.show(event) }
    }
    let end = try await train(session, data, recipe, choice, arguments, console, emit)
    try write(session, outputs, recorder, emit)
    emit(end)
    console.clearProgress()
    if end.outcome == .interrupted {
      throw interruption(session, keepsResult: outputs.keepsResult, recorder?.folder)
    }
  }

  /// Writes down what the run is, or compares it with what it was when it began.
  private static func configure(
    _ recorder: RunRecorder, _ choice: RunChoice, _ arguments: Arguments, _ path: String,
    _ data: TrainingData, _ session: TrainingSession, _ options: FitOptions
  ) throws {
    let sources = try data.sources()
    let model = RunConfiguration.Source(
      path: URL(fileURLWithPath: path).standardizedFileURL.path,
      fingerprint: try Fingerprint.text(ofFilesAt: path))
    if let former = choice.former {
      try RunArguments.requireSame([former.model], [model], "the model")
      try RunArguments.requireSame(former.data, sources.training, "the data")
      try RunArguments.requireSame(former.validation, sources.validation, "the validation data")
    }
    var configuration = RunConfiguration(
      created: choice.former?.created ?? Date(),
      versions: RunConfiguration.Versions(graft: CommandLineTool.version),
      model: model, data: sources.training, validation: sources.validation,
      options: try RunArguments.written(arguments), seed: try FitArguments.seed(arguments))
    configuration.trainable = session.trainable
    for parameter in session.hyperParameters + options.hyperParameters {
      configuration.hyperParameters[parameter.name] = parameter.value.description
    }
    try configuration.write(to: recorder.folder)
  }

  /// - Returns: the event that ends the run.
  private static func train(
    _ session: TrainingSession, _ data: TrainingData, _ recipe: TrainingRecipe,
    _ choice: RunChoice, _ arguments: Arguments, _ console: Console,
    _ emit: @escaping (RunEvent) -> Void
  ) async throws -> RunEvent {
    var options = recipe.fitOptions
    options.checkpoints = try choice.folder.map {
      try RunArguments.checkpoints(arguments, in: $0)
    }
    let checkpoint = try choice.checkpoint()
    let run = try session.fit(
      data.training, validation: data.validation, options, resuming: checkpoint)
    let log = try arguments.string("--log").map(LineFile.init)
    let loop = TrainingLoop(options: options, log: log, console: console, emit: emit)
    return try await loop.run(run, epochsBefore: checkpoint?.epoch ?? 0)
  }

  private static func write(
    _ session: TrainingSession, _ outputs: TrainingOutputs, _ recorder: RunRecorder?,
    _ emit: (RunEvent) -> Void
  ) throws {
    func tell(_ file: String) {
      var event = RunEvent(.file)
      event.file = file
      emit(event)
    }
    // The one may be on another disk than the other.
    let result = Result {
      if let url = recorder?.folder.model {
        try session.model.write(to: url)
        tell(url.path)
      }
    }
    try outputs.write(session, written: tell)
    try result.get()
  }

  private static func interruption(
    _ session: TrainingSession, keepsResult: Bool, _ folder: RunFolder?
  ) -> GraftError {
    let isKept = keepsResult || folder != nil
    return GraftError(
      .cancelled,
      "training was interrupted after step \(session.updateCount)"
        + (isKept ? "; what was learned until then is written" : ""),
      fix: folder.map { "Go on with 'graft train --run \($0.word) --resume'" })
  }
}

/// How a call of `graft train` wants its model trained.
struct TrainingRecipe {
  let fitOptions: FitOptions
  private let loss: Loss
  private let optimizer: Optimizer
  private let options: TrainingOptions
  private let selection: ParameterSelection
  private let output: String?

  init(_ arguments: Arguments) throws {
    loss = try TrainingArguments.loss(arguments)
    optimizer = try TrainingArguments.optimizer(arguments)
    fitOptions = try FitArguments.fitOptions(arguments)
    options = try FitArguments.trainingOptions(arguments)
    try FitArguments.requireSelection(arguments)
    selection = try FitArguments.selection(arguments, head: nil)
    output = arguments.string("--output")
  }

  func session(_ model: Model, _ data: TrainingData) throws -> TrainingSession {
    var model = model
    if let labels = data.labels { model.labels = labels }
    return try TrainingSession(
      model, output: output, trainable: selection, loss: loss, optimizer: optimizer,
      options: options)
  }
}

extension Double {
  /// Four significant digits.
  var short: String { String(format: "%.4g", self) }
}
