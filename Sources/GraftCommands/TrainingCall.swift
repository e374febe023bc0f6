import Foundation
import Graft
import GraftFormats
import GraftLearning

/// A call of `graft train`: what it learns from, where it keeps what, and whom it tells.
struct TrainingCall {
  let arguments: Arguments
  let choice: RunChoice
  let console: Console
  let model: Model
  let data: TrainingData
  private let source: ModelArgument
  private let outputs: TrainingOutputs
  private let display: TrainingDisplay
  /// What the run is kept by, and what its files hold; nil when the call keeps no run.
  private let recorder: RunRecorder?
  private let sources: Sources?

  /// - Throws: what is wrong with the call, its model or its examples, before any work.
  init(_ arguments: Arguments, _ choice: RunChoice, _ console: Console) throws {
    self.arguments = arguments
    self.choice = choice
    self.console = console
    source = try choice.model(arguments)
    outputs = try TrainingOutputs(
      arguments, model: source.path, data: try DataArguments.paths(arguments))
    if choice.folder == nil, !outputs.keepsResult {
      console.note("nothing will be kept: '--export' or '--parameters-out' writes what is learned")
    }
    model = try source.open(withLastLayer: try HeadArguments.kind(arguments) == "layer")
    data = try TrainingData(arguments, for: model, console)
    let display = TrainingDisplay(console, printsJSON: arguments.has("--json"))
    self.display = display
    recorder = try choice.folder.map { folder in try RunRecorder(folder) { display.show($0) } }
    sources = recorder == nil ? nil : try Sources(source, data)
    if let sources, let former = choice.former { try sources.requireSame(as: former) }
  }

  /// What a failure of the model itself is said to be about.
  var modelPlace: String { source.path }

  /// Writes an event down and tells it, as of now: it may have been prepared long before.
  ///
  /// - Throws: `inputOutput` when the run's folder is not where it was.
  func emit(_ event: RunEvent) throws {
    var event = event
    event.time = Date()
    if let recorder { try recorder.record(event) } else { display.show(event) }
  }

  /// Writes down how training failed. A run that had just begun and learned nothing leaves nothing behind,
  /// so that the same call can be made again.
  func fail(_ end: RunEvent, _ error: any Error) {
    var end = end
    end.message = "\(error)"
    end.outcome = .failed
    try? emit(end)
    if choice.former == nil { recorder?.forgetUnlessLearned() }
    if data.comesFromFolders, let error = error as? GraftError,
      error.places.contains(where: { $0.hasPrefix("row ") })
    {
      console.note("'--skip-unreadable' leaves out all files that cannot be decoded")
    }
  }

  /// Whether the run goes on that has come to its end, and no further file is asked for.
  var isDone: Bool {
    guard choice.former != nil, let recorder, !outputs.keepsResult else { return false }
    return recorder.history.outcome == .done
      && FileManager.default.fileExists(atPath: recorder.folder.model.path)
  }

  /// Finds what the opset cannot express before training, not after.
  func check(_ model: Model) throws { try outputs.check(model) }

  /// Writes down what the run is.
  func configure(trainable: [String], _ hyperParameters: [HyperParameter]) throws {
    guard let recorder, let sources else { return }
    var configuration = RunConfiguration(
      created: choice.former?.created ?? Date(),
      versions: RunConfiguration.Versions(graft: CommandLineTool.version), model: sources.model,
      data: sources.training, validation: sources.validation,
      options: try RunArguments.written(arguments), seed: try FitArguments.seed(arguments))
    configuration.trainable = trainable
    for parameter in hyperParameters {
      configuration.hyperParameters[parameter.name] = parameter.value.written
    }
    try configuration.write(to: recorder.folder)
    guard choice.former == nil else { return }
    console.note(
      arguments.has("--resume")
        ? "there is no run '\(recorder.folder.word)' yet; it begins"
        : "the run is \(recorder.folder.path)")
  }

  /// Writes the results and ends the run.
  ///
  /// - Parameters:
  ///   - parameters: those that changed.
  ///   - end: the event that ends the run.
  /// - Throws: `cancelled` when it was interrupted.
  func finish(_ model: Model, parameters: OrderedTable<Tensor>, _ end: RunEvent) throws {
    func tell(_ file: String) throws {
      var event = RunEvent(.file)
      event.file = file
      try emit(event)
    }
    // The one may be on another disk than the other.
    let result: Result<Void, any Error> = Result {
      if let url = recorder?.folder.model {
        try model.write(to: url)
        try tell(url.path)
      }
    }
    try outputs.write(model, parameters: parameters, written: tell)
    try result.get()
    try emit(end)
    console.clearProgress()
    if end.outcome == .interrupted { throw interruption(after: end.step ?? 0) }
  }

  private func interruption(after step: Int) -> GraftError {
    let isKept = outputs.keepsResult || recorder != nil
    return GraftError(
      .cancelled,
      "training was interrupted after step \(step)"
        + (isKept ? "; what was learned until then is written" : ""),
      fix: recorder.map { "Go on with 'graft train --run \($0.folder.word) --resume'" })
  }
}

/// What a run reads.
private struct Sources {
  let model: RunConfiguration.Source
  let training: [RunConfiguration.Source]
  let validation: [RunConfiguration.Source]

  init(_ model: ModelArgument, _ data: TrainingData) throws {
    self.model = RunConfiguration.Source(
      path: model.identity, fingerprint: try Fingerprint.text(ofFilesAt: model.path))
    (training, validation) = try data.sources()
  }

  /// - Throws: `badData` naming what is another than when the run began.
  func requireSame(as former: RunConfiguration) throws {
    try RunArguments.requireSame([former.model], [model], "the model")
    try RunArguments.requireSame(former.data, training, "the data")
    try RunArguments.requireSame(former.validation, validation, "the validation data")
  }
}

extension HyperParameter.Value {
  /// As a person writes it: without the digits that a float adds.
  fileprivate var written: String {
    guard case .number(let number) = self, Int(exactly: number) == nil,
      Double(Float(number)) == number
    else { return description }
    return "\(Float(number))"
  }
}
