import GraftGraph
import GraftTensor

/// A gradient made smaller when the norm is too large: g * clip_norm / norm when norm > clip_norm,
/// else g.
///
/// Inputs: gradient g; norm, one number of its type. Attribute: `clip_norm`, required.
struct ClipByNorm: FloatingOperator {
  let name = "ClipByNorm"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    try context.requireSingle(1)
    _ = try context.node.float("clip_norm")
    return [try context.input(0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let limit = T(try context.node.float("clip_norm"))
    let norm = try context.input(1, as: type).pointee
    let factor = norm > limit ? limit / norm : 1
    let g = try context.input(0, as: type)
    let clipped = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { clipped[i] = factor * g[i] }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    func sample(_ name: String, norm: Float) -> OperatorSample {
      OperatorSample(
        name, attributes: ["clip_norm": .float(2)],
        inputs: [.random([3, 5]), .sample([norm], [])])
    }
    return [
      sample("too large", norm: 8),
      sample("small enough", norm: 1.5),
      OperatorSample(
        "no limit", inputs: [.random([3]), .random([])], error: "'clip_norm' is missing"),
    ]
  }
}
