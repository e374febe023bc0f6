import Foundation
import Graft
import GraftFormats
import GraftLearning

/// `graft predict`: what a model says of pictures, recordings, rows of a table or tensors.
enum PredictCommand: Command {
  static let specification = CommandSpecification(
    name: "predict", summary: "Ask a model about pictures, recordings, tables or tensors",
    positionals: "MODEL|RUN INPUT...", positionalCount: 2...Int.max,
    options: [
      .value("--output", "NAME", "the output to look at; the first by default"),
      .value("--top", "K", "how many classes are shown, the most probable first; 3"),
      .flag("--raw", "show the output as it is, not as probabilities of classes"),
      .value("--predictions", "FILE", "write all scores of all examples, .csv or .json"),
      .value("--threads", "N", "threads; all cores by default"),
      .flag("--json", "print JSON"),
    ] + InputPreparation.options,
    example: "graft predict runs/pictures cat.jpg dog.jpg",
    notes:
      "INPUT is a picture, a recording, a .csv with a line for each example, or .safetensors with a\n"
      + "tensor for each input of the model and the examples on the first axis. A file that cannot be\n"
      + "used is named; the others are answered, and the call exits with its error's code.")

  static func run(_ given: Arguments, _ console: Console) async throws {
    let source = try ModelArgument(given.positionals[0])
    let path = source.path
    let run = try source.runOptions()
    let arguments = run.map(given.adding) ?? given
    let top = try given.int("--top") ?? 3
    let threads = try given.threads()
    let file = try given.string("--predictions").map { try PredictionFile($0, inputs: [path]) }
    let model = try source.open()
    let inputs = try ExampleInputs(try InputPreparation(arguments, for: model), model)
    let output = arguments.string("--output") ?? model.outputs.first?.name ?? ""
    let session = try locating(path) {
      try InferenceSession(model, outputs: [output], threads: threads)
    }
    let reading = OutputReading(
      kind: kind(run, model, raw: given.has("--raw")), labels: model.labels)
    var predictions: [Prediction] = []
    var firstError: GraftError?
    for input in given.positionals.dropFirst() {
      do {
        try inputs.forEach(in: input) { name, tensors in
          let results = try session.run(tensors)
          guard let result = results[output] else { return }
          for var prediction in try reading.predictions(result) {
            prediction.example = name
            predictions.append(prediction)
          }
        }
      } catch let error as GraftError where error.code != .cancelled {
        let error = error.at(input)
        firstError = firstError ?? error
        console.note("graft: \(error)")
        predictions.append(Prediction(example: input, error: error.description))
      }
    }
    try file?.write(predictions)
    if given.has("--json") {
      try console.print(json: predictions.map { $0.keeping(top) })
    } else {
      for prediction in predictions { console.print(text(prediction, top)) }
    }
    if let firstError { throw ReportedFailure(code: firstError.code) }
  }

  /// Scores of classes where the model names classes, or was trained to tell them apart.
  private static func kind(_ run: [String: [String]]?, _ model: Model, raw: Bool)
    -> OutputReading.Kind
  {
    if raw { return .values }
    switch run?["--loss"]?.last {
    case "mse", "l1": return .values
    case "bce": return .probabilities
    default: return model.labels == nil && run == nil ? .values : .classes
    }
  }

  private static func text(_ prediction: Prediction, _ top: Int) -> String {
    if prediction.error != nil { return "\(prediction.example): no answer" }
    if let classes = prediction.classes {
      let shown = classes.prefix(top).map {
        "\($0.label) \(String(format: "%.3f", $0.probability))"
      }
      return "\(prediction.example): \(shown.joined(separator: ", "))"
    }
    let values = (prediction.values ?? []).map(\.short)
    let shown = values.prefix(20).joined(separator: " ")
    return "\(prediction.example): \(shown)" + (values.count > 20 ? " ..." : "")
  }
}

/// The inputs of a model from files of any kind.
private struct ExampleInputs {
  private let preparation: InputPreparation
  private let model: Model

  init(_ preparation: InputPreparation, _ model: Model) throws {
    self.preparation = preparation
    self.model = model
  }

  /// Calls `body` with each example's name and inputs.
  func forEach(in path: String, _ body: (String, [String: Tensor]) throws -> Void) throws {
    let url = URL(fileURLWithPath: path)
    switch url.pathExtension.lowercased() {
    case "safetensors": try forEachTensor(path, body)
    case "csv": try forEachRow(path, body)
    default: try body(path, [preparation.inputName: try tensor(of: url)])
    }
  }

  private func tensor(of url: URL) throws -> Tensor {
    if let picture = preparation.picture { return try picture.tensor(Picture(contentsOf: url)) }
    return try preparation.recording.tensor(preparation.recording.decoder().decode(url))
  }

  private func forEachRow(_ path: String, _ body: (String, [String: Tensor]) throws -> Void) throws
  {
    let table = try CSVTable(path: path)
    let names = preparation.columns ?? table.columns.filter { $0 != preparation.target }
    let columns = try names.map(table.column)
    for row in 0..<table.rowCount {
      let values = try columns.map { Float(try table.number(row: row, column: $0)) }
      try body(
        "\(path):\(row + 1)",
        [preparation.inputName: try Tensor(values, shape: [1, values.count])])
    }
  }

  private func forEachTensor(_ path: String, _ body: (String, [String: Tensor]) throws -> Void)
    throws
  {
    let names = model.inputs.map(\.name)
    let tensors = try SafetensorsFile(path: path).tensors
    for name in names where tensors[name] == nil {
      throw GraftError(
        .badData, "there is no tensor '\(name)'", fix: didYouMean(name, among: tensors.keys))
    }
    let count = names.compactMap { tensors[$0]?.shape.first }.min() ?? 0
    for row in 0..<count {
      var inputs: [String: Tensor] = [:]
      for name in names { inputs[name] = try tensors[name]?.rows(row..<row + 1) }
      try body("\(path):\(row)", inputs)
    }
  }
}

extension Prediction {
  /// With the most probable classes only.
  fileprivate func keeping(_ count: Int) -> Prediction {
    var prediction = self
    prediction.classes = classes.map { Array($0.prefix(count)) }
    return prediction
  }
}
