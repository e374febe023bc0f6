import GraftGraph
import GraftTensor

@testable import Graft

/// Small models for tasks, whose outputs are known.
enum TaskModels {
  static func input(
    _ dimensions: [Int?], _ type: ElementType = .float32, named name: String = "image"
  ) -> Feature {
    Feature(
      name: name,
      type: .tensor(type, shape: dimensions.map { $0.map(FeatureDimension.fixed) ?? .unknown }))
  }

  /// A model that gives these tensors, whatever the picture shows.
  static func constant(
    _ outputs: [(name: String, tensor: Tensor)],
    input: Feature = TaskModels.input([1, 10, 10, 3], .uint8), declaresShapes: Bool = false
  ) throws -> Model {
    var builder = GraphBuilder()
    _ = builder.input(input)
    for (name, tensor) in outputs {
      let value = builder.initializer(tensor, named: "constant")
      let output = builder.add("Identity", [value], named: name)
      builder.output(
        output,
        declaresShapes
          ? .tensor(tensor.elementType, shape: tensor.shape.dimensions.map { .fixed($0) })
          : .unknown)
    }
    return Model(graph: builder.graph)
  }

  /// Detections as outputs of the post-processing: boxes as upper, left, lower and right side.
  static func detector(
    _ detections: [(box: [Float], category: Float, score: Float)], count: Float? = nil,
    names: [String] = ["boxes", "classes", "scores", "number"], order: [Int] = [0, 1, 2, 3],
    input: Feature = TaskModels.input([1, 10, 10, 3], .uint8)
  ) throws -> Model {
    let size = detections.count
    let tensors = [
      try Tensor(detections.flatMap(\.box), shape: [1, size, 4]),
      try Tensor(detections.map(\.category), shape: [1, size]),
      try Tensor(detections.map(\.score), shape: [1, size]),
      try Tensor([count ?? Float(size)]),
    ]
    return try constant(order.map { (names[$0], tensors[$0]) }, input: input)
  }

  /// A picture whose pixels count up.
  static func picture(_ width: Int, _ height: Int) throws -> Picture {
    try Picture(
      width: width, height: height,
      pixels: (0..<3 * width * height).map { UInt8(truncatingIfNeeded: $0) })
  }
}
