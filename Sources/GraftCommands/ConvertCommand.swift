import Foundation
import Graft

/// `graft convert`: one format into another.
enum ConvertCommand: Command {
  static let specification = CommandSpecification(
    name: "convert",
    summary: "Write a model in another format: ONNX, TensorFlow Lite or Core ML",
    positionals: "MODEL OUT", positionalCount: 2...2,
    options: [
      .value(
        "--weights", "KIND",
        "how large weights are stored: float32, float16 or, in a .tflite file, int8",
        standard: "float32"),
      .repeated(
        "--size", "NAME=N", "the size of an open dimension, fixed in a .tflite or Core ML file"),
      .value("--opset", "N", "the version of ONNX's operators in an .onnx file"),
    ],
    example: "graft convert mobilenet_v2.onnx mobilenet_v2.tflite --weights int8",
    notes: """
      The ending of OUT says which format is written: .onnx, .tflite, .mlmodel (Core ML, a neural
      network) or .mlpackage (Core ML, an ML program).
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let (path, out) = (arguments.positionals[0], arguments.positionals[1])
    let kind = try arguments.choice("--weights", TFLiteWeights.allCases.map(\.rawValue))
    let opset = try arguments.int("--opset")
    let sizes = try sizes(arguments.all("--size"))
    var files = CallFiles()
    try files.read(path, "the model")
    try files.write(out, "OUT", .model(named: out))
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
