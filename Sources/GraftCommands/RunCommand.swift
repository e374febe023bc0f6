import Foundation
import Graft
import GraftFormats

/// `graft run`: a model's outputs for given inputs.
enum RunCommand: Command {
  static let specification = CommandSpecification(
    name: "run", summary: "Run a model on tensors from a file",
    positionals: "MODEL", positionalCount: 1...1,
    options: [
      .value("--inputs", "FILE", "safetensors file with one tensor per input"),
      .value(
        "--rows", "FILE",
        "Core ML models: JSON file with a list of numbers, texts or dictionaries per input"),
      .value("--outputs", "FILE", "file to write, .safetensors"),
      .repeated("--output", "NAME", "a value to compute; all outputs by default"),
      .value("--threads", "N", "threads; all cores by default"),
      ArithmeticOption.specification,
    ],
    example: "graft run model.onnx --inputs in.safetensors --outputs out.safetensors")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let inputs = arguments.string("--inputs")
    let rows = arguments.string("--rows")
    guard inputs != nil || rows != nil else {
      throw UsageError(
        "the option '--inputs' or '--rows' is missing", fix: "See 'graft run --help'")
    }
    let outputs = try arguments.required("--outputs")
    let names = arguments.all("--output")
    let path = arguments.positionals[0]
    let threads = try arguments.threads()
    var files = CallFiles()
    try files.read(path, "the model")
    for (file, option) in [(inputs, "--inputs"), (rows, "--rows")] {
      if let file { try files.read(file, "'\(option)'") }
    }
    try files.write(outputs, "--outputs", .tensors)
    let (model, session) = try locating(path) {
      let model = try Model(
        contentsOf: URL(fileURLWithPath: path), arithmetic: arguments.arithmetic)
      return (
        model,
        try InferenceSession(model, outputs: names.isEmpty ? nil : names, threads: threads)
      )
    }
    var given: [String: Tensor] = [:]
    if let inputs {
      for (name, tensor) in try SafetensorsFile(path: inputs).tensors {
        given[name] = model.coreML == nil ? tensor : try model.coreMLInput(name, tensor)
      }
    }
    if let rows {
      try locating(rows) {
        for (name, values) in try RowFile.values(of: rows, for: model) {
          given[name] = try model.coreMLInput(name, values)
        }
      }
    }
    let results = try locating(path) { try session.run(given) }
    try SafetensorsFile.write(
      OrderedTable(session.outputs.compactMap { name in results[name].map { (name, $0) } }),
      to: outputs)
    for name in session.outputs {
      guard let tensor = results[name], let labels = try model.coreMLLabels(name, tensor) else {
        continue
      }
      console.print("\(name): \(labels.joined(separator: ", "))")
    }
    console.print("wrote \(outputs)")
  }
}

/// A JSON file with the values of inputs that are no tensors: an object with a list of rows for each.
private enum RowFile {
  static func values(of path: String, for model: Model) throws -> [String: [CoreMLValue]] {
    guard model.coreML != nil else {
      throw GraftError(
        .invalidArgument, "only Core ML models take rows of texts and dictionaries",
        fix: "Give tensors with '--inputs'")
    }
    let data = try contents(of: path)
    guard let inputs = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] else {
      throw GraftError(.badData, "this is no JSON object", fix: example)
    }
    return try inputs.mapValues { rows in
      guard let rows = rows as? [Any] else {
        throw GraftError(.badData, "an input is no list of rows", fix: example)
      }
      return try rows.enumerated().map { index, row in
        if let text = row as? String { return .text(text) }
        if let number = row as? Double { return .number(number) }
        if let entries = row as? [String: Double] { return .dictionary(entries) }
        throw GraftError(
          .badData, "a row is no number, text or dictionary of numbers", at: ["row \(index)"],
          fix: example)
      }
    }
  }

  private static func contents(of path: String) throws -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw GraftError(.inputOutput, "the file cannot be read: \(error.reason)")
    }
  }

  private static let example =
    #"Write for example {"colour": ["red", "blue"], "counts": [{"a": 1}, {"b": 2}]}"#
}
