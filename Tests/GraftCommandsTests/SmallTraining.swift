import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport

/// A small model and examples for it in a folder, made from a seed.
struct SmallTraining {
  let folder: TemporaryFolder

  static let classCount = 3
  private static let side = 6

  init(examples: Int = 24, seed: UInt64 = 1) throws {
    folder = try TemporaryFolder()
    try Self.model(seed: seed).write(to: URL(fileURLWithPath: model))
    try Self.write(count: examples, seed: seed + 1, to: data)
    try Self.write(count: 12, seed: seed + 2, to: validation)
  }

  var model: String { path("model.onnx") }
  var data: String { path("data.safetensors") }
  var validation: String { path("validation.safetensors") }

  func path(_ name: String) -> String { folder.url.appending(path: name).path }

  /// Pictures [count, 3, 6, 6] whose class decides where they are bright.
  static func write(count: Int, seed: UInt64, to path: String) throws {
    var generator = SeededGenerator(seed: seed)
    let classes = (0..<count).map { $0 % classCount }
    let size = 3 * side * side
    let pixels = classes.flatMap { label in
      (0..<size).map { Float(generator.normal() * 0.5) + ($0 % classCount == label ? 1 : 0) }
    }
    try SafetensorsFile.write(
      OrderedTable([
        ("pictures", try Tensor(pixels, shape: [count, 3, side, side])),
        ("target", try Tensor(classes.map(Int64.init))),
      ]), to: path)
  }

  /// A folder with one folder of picture files for each of two classes.
  static func writePictures(count: Int, seed: UInt64, to folder: URL) throws {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<count {
      let label = folder.appending(path: number.isMultiple(of: 2) ? "bright" : "dark")
      try FileManager.default.createDirectory(at: label, withIntermediateDirectories: true)
      let least: UInt8 = number.isMultiple(of: 2) ? 120 : 0
      let pixels = (0..<3 * 8 * 8).map { _ in least + UInt8.random(in: 0..<120, using: &generator) }
      try (Data("P6 8 8 255\n".utf8) + Data(pixels)).write(
        to: label.appending(path: "\(number).ppm"))
    }
  }

  /// Convolution, batch normalization, ReLU, dropout and two fully connected layers.
  static func model(seed: UInt64) throws -> Model {
    var generator = SeededGenerator(seed: seed)
    var builder = GraphBuilder()
    func random(_ shape: Shape, _ scale: Double) throws -> Tensor {
      try Tensor(
        (0..<shape.elementCount).map { _ in Float(generator.normal() * scale) }, shape: shape)
    }
    let input = builder.input(
      Feature(
        name: "pictures",
        type: .tensor(
          .float32, shape: [.named("batch"), .fixed(3), .fixed(side), .fixed(side)])))
    let convolved = builder.add(
      "Conv", [input, builder.initializer(try random([4, 3, 3, 3], 0.3), named: "conv.weight")],
      ["kernel_shape": .ints([3, 3])], named: "conv")
    let ones = try Tensor([Float](repeating: 1, count: 4))
    let zeros = try Tensor([Float](repeating: 0, count: 4))
    let statistics = [("scale", ones), ("bias", zeros), ("mean", zeros), ("variance", ones)].map {
      builder.initializer($1, named: "normalization.\($0)")
    }
    let normalized = builder.add(
      "BatchNormalization", [convolved] + statistics, named: "normalization")
    let flat = builder.add("Flatten", [builder.add("Relu", [normalized])], named: "flat")
    let hidden = builder.add(
      "Gemm",
      [
        flat, builder.initializer(try random([8, 64], 0.1), named: "hidden.weight"),
        builder.initializer(try random([8], 0.1), named: "hidden.bias"),
      ], ["transB": .int(1)], named: "hidden")
    let dropped = builder.add(
      "Dropout", [builder.add("Relu", [hidden]), try builder.float(0.3)], named: "dropped")
    let logits = builder.add(
      "Gemm",
      [
        dropped, builder.initializer(try random([classCount, 8], 0.3), named: "head.weight"),
        builder.initializer(try random([classCount], 0.1), named: "head.bias"),
      ], ["transB": .int(1)], named: "logits")
    builder.output(logits, .tensor(.float32, shape: [.named("batch"), .fixed(classCount)]))
    return Model(graph: builder.graph)
  }
}
