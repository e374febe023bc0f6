import GraftGraph
import GraftTensor

/// The gradient of Gather: dx[i] = the sum of dy over all places that named i, added in their order.
///
/// Inputs: dy, the shape of x, the indices. Attribute `axis` (0). Threads share out the axes beside
/// the gathered one, so that no element is added up by two of them.
struct GatherGradient: FloatingOperator {
  let name = "GatherGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.require(2, ElementType.integers)
    let shape = try context.shapeValue(1)
    try context.requireShape(0, try Gather.shape(shape, try context.shape(2), context.node))
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    let columns = try AxisColumns(shape, axis: axis)
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    let inner = columns.inner
    dx.update(repeating: 0, count: shape.elementCount)
    try context.withIndices(2, along: axis, of: columns.size) { indices in
      guard shape.elementCount > 0 else { return }
      context.parallel(columns.outer * inner, cost: indices.count) { range in
        var column = range.lowerBound
        while column < range.upperBound {
          let first = column % inner
          let count = min(inner - first, range.upperBound - column)
          let block = column / inner
          for (place, index) in indices.enumerated() {
            let source = dy + (block * indices.count + place) * inner + first
            let target = dx + (block * columns.size + index) * inner + first
            for i in 0..<count { target[i] += source[i] }
          }
          column += count
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
