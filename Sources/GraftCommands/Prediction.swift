import Foundation
import Graft
import GraftLearning

/// What a model says of one example.
struct Prediction: Encodable {
  struct Score: Encodable {
    let label: String
    let probability: Double
  }

  var example = ""
  /// The right class or value, where it is known.
  var target: String?
  /// The most probable class; nil when the output is no scores of classes.
  var label: String?
  var probability: Double?
  /// The classes by their probability, the most probable first.
  var classes: [Score]?
  /// The output as it is, when it is no scores of classes.
  var values: [Double]?
  var error: String?
}

/// How a model's output is read: as scores of classes, or as it is.
struct OutputReading {
  enum Kind { case classes, probabilities, values }

  let kind: Kind
  let labels: [String]?

  init(kind: Kind, labels: [String]?) {
    self.kind = kind
    self.labels = labels
  }

  /// As the loss reads it.
  init(_ loss: Loss, labels: [String]?) {
    self.init(
      kind: loss.isClassification ? .classes : loss.takesProbabilities ? .probabilities : .values,
      labels: labels)
  }

  /// One prediction for each row of an output [rows, ...].
  func predictions(_ output: Tensor) throws -> [Prediction] {
    guard let numbers = output.numbers ?? output.integers?.map(Double.init),
      let rows = output.shape.first, rows > 0
    else {
      throw GraftError(
        .typeMismatch,
        "an output of type \(output.elementType) and shape \(output.shape) holds no "
          + "rows of numbers", fix: "Choose another output")
    }
    let size = numbers.count / rows
    return (0..<rows).map { prediction(Array(numbers[$0 * size..<($0 + 1) * size])) }
  }

  private func prediction(_ values: [Double]) -> Prediction {
    var prediction = Prediction()
    switch kind {
    case .values: prediction.values = values
    case .probabilities: prediction.values = values.map { 1 / (1 + exp(-$0)) }
    case .classes:
      let scores = zip(values.indices, Self.probabilities(values)).map {
        Prediction.Score(label: label($0), probability: $1)
      }
      // Of equal ones the first stays first.
      let order = scores.indices.sorted {
        (scores[$1].probability, $0) < (scores[$0].probability, $1)
      }
      prediction.classes = order.map { scores[$0] }
      prediction.label = order.first.map { scores[$0].label }
      prediction.probability = order.first.map { scores[$0].probability }
    }
    return prediction
  }

  /// The softmax of logits; values that are probabilities already stay.
  static func probabilities(_ values: [Double]) -> [Double] {
    let sum = values.reduce(0, +)
    if abs(sum - 1) < 1e-3, values.allSatisfy({ (0...1).contains($0) }) { return values }
    let largest = values.max() ?? 0
    let powers = values.map { exp($0 - largest) }
    let total = powers.reduce(0, +)
    return powers.map { $0 / total }
  }

  private func label(_ index: Int) -> String {
    labels.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? "\(index)"
  }

  /// The right answer for a row, as text.
  func target(_ targets: Tensor, _ row: Int) throws -> String {
    let tensor = try targets.rows(row..<row + 1)
    if kind == .classes, let index = tensor.integers?.first { return label(index) }
    let numbers = tensor.numbers ?? tensor.integers?.map(Double.init) ?? []
    return numbers.map { "\($0)" }.joined(separator: " ")
  }
}

/// A file of predictions, .csv or .json.
struct PredictionFile {
  let path: String
  private let isJSON: Bool

  /// - Throws: as `CallFiles`, before any work is done.
  init(_ path: String, inputs: [String]) throws {
    self.path = path
    let ending = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard ["csv", "json"].contains(ending) else {
      throw UsageError(
        "\(path): '--predictions' writes .csv or .json, not '.\(ending)'",
        fix: "Choose a name that ends in .csv or .json")
    }
    isJSON = ending == "json"
    var files = CallFiles()
    for input in inputs { try files.read(input, "the model") }
    try files.write(path, "--predictions", .lines)
  }

  func write(_ predictions: [Prediction]) throws {
    let data: Data
    if isJSON {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      data = try encoder.encode(predictions) + Data("\n".utf8)
    } else {
      data = Data(Self.table(predictions).utf8)
    }
    try replaceFile(at: path) { write in try data.withUnsafeBytes { try write($0) } }
  }

  /// A line for each prediction, with a column for each class or value.
  static func table(_ predictions: [Prediction]) -> String {
    let labels = predictions.first?.classes?.map(\.label).sorted() ?? []
    let count = labels.isEmpty ? predictions.map { $0.values?.count ?? 0 }.max() ?? 0 : 0
    var head = ["example", "target"]
    if !labels.isEmpty { head += ["predicted", "probability"] + labels }
    head += (0..<count).map { "value\($0)" }
    let lines = predictions.map { prediction -> [String] in
      var line = [prediction.example, prediction.target ?? ""]
      if !labels.isEmpty {
        line += [prediction.label ?? "", prediction.probability.map { "\($0)" } ?? ""]
        let scores = Dictionary(
          (prediction.classes ?? []).map { ($0.label, $0.probability) },
          uniquingKeysWith: { a, _ in a })
        line += labels.map { scores[$0].map { "\($0)" } ?? "" }
      }
      return line
        + (0..<count).map { index in
          prediction.values.flatMap { $0.indices.contains(index) ? "\($0[index])" : nil } ?? ""
        }
    }
    return ([head] + lines).map { $0.map(quoted).joined(separator: ",") + "\n" }.joined()
  }

  private static func quoted(_ cell: String) -> String {
    guard cell.contains(where: { ",\"\n\r".contains($0) }) else { return cell }
    return "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}

extension ExampleSet {
  /// What a row is called in a list of predictions.
  func exampleName(_ row: Int) -> String { "\(name):\(row)" }
}
