import Foundation
import Graft

/// `graft convert`: one format into another.
enum ConvertCommand: Command {
  static let specification = CommandSpecification(
    name: "convert",
    summary: "Write a model in another format: ONNX or TensorFlow Lite",
    positionals: "MODEL OUT", positionalCount: 2...2,
    options: [
      .value(
        "--weights", "KIND",
        "how a .tflite file stores large weights: float32, float16 or int8", standard: "float32"),
      .repeated("--size", "NAME=N", "the size of an open dimension, fixed in a .tflite file"),
      .value("--opset", "N", "the version of ONNX's operators in an .onnx file"),
    ],
    example: "graft convert mobilenet_v2.onnx mobilenet_v2.tflite --weights int8",
    notes: "The ending of OUT, .onnx or .tflite, says which format is written.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let (path, out) = (arguments.positionals[0], arguments.positionals[1])
    let kind = try arguments.choice("--weights", TFLiteWeights.allCases.map(\.rawValue))
    let opset = try arguments.int("--opset")
    let sizes = try sizes(arguments.all("--size"))
    var files = CallFiles()
    try files.read(path, "the model")
    try files.write(
      out, "OUT", out.lowercased().hasSuffix(".tflite") ? .liteModel : .model)
    let model = try ModelArgument(path).open()
    try model.write(
      to: URL(fileURLWithPath: out), opset: opset,
      weights: kind.flatMap(TFLiteWeights.init) ?? .float32, sizes: sizes)
    console.print("wrote \(out)")
  }

  private static func sizes(_ words: [String]) throws -> [String: Int] {
    var sizes: [String: Int] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let size = Int(parts[1]), size > 0 else {
        throw UsageError("'\(word)' is no value for '--size'", fix: "Give a name and a size: T=128")
      }
      sizes[String(parts[0])] = size
    }
    return sizes
  }
}
