import GraftGraph
import GraftTensor

/// The gradient of Resize: the transposed map, so that every element of X collects what the
/// elements that read it have.
///
/// Inputs: dY, X (of which only the shape matters), and roi, scales and sizes as the forward node
/// has them, with its attributes.
struct ResizeGradient: FloatingOperator {
  let name = "ResizeGradient"
  let domain = graftDomain
  let inputCount = 2...5

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(1, ElementType.floating)
    try context.requireSameType(1, 0)
    try context.requireShape(0, try context.resizeGeometry(1).outputShape)
    return [try context.input(1)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    try context.resizeGeometry(1).forEachPassBackwards(
      from: try context.input(0, as: type), to: try context.output(0, as: type)
    ) { $0.runTransposed(context, from: $1, to: $2) }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    let scales: Tensor? = .sample([2] as [Float])
    return [
      OperatorSample("doubled", inputs: [.random([6]), .random([3]), nil, scales]),
      OperatorSample(
        "misfit", inputs: [.random([5]), .random([3]), nil, scales],
        error: "input 0 has shape [5]; it must be [6]"),
    ]
  }
}
