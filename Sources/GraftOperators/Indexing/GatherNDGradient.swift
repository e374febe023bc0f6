import GraftGraph
import GraftTensor

/// The gradient of GatherND: zeros with dy added at the slices taken, in their order.
///
/// Inputs: dy, the shape of x, the indices. Attribute `batch_dims` (0).
struct GatherNDGradient: FloatingOperator {
  let name = "GatherNDGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.require(2, ElementType.integers)
    let shape = try context.shapeValue(1)
    let tuples = try TuplePositions(
      data: shape, indices: try context.shape(2),
      batchAxes: try context.node.int("batch_dims", default: 0))
    try context.requireShape(0, tuples.slicesShape)
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let tuples = try TuplePositions(
      data: shape, indices: try context.input(2).shape,
      batchAxes: try context.node.int("batch_dims", default: 0))
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    dx.update(repeating: 0, count: shape.elementCount)
    guard !tuples.slicesShape.contains(0) else { return }
    let positions = try tuples.find(context, indices: 2)
    ScatteredSlices(positions: positions, length: tuples.slice.elementCount)
      .run(context, dy, dx) { $0 + $1 }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
