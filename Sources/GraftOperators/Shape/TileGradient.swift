import GraftGraph
import GraftTensor

/// The gradient of Tile: dx = the sum of dy over the repetitions.
///
/// Inputs: dy, the shape of x, the repeats.
struct TileGradient: FloatingOperator {
  let name = "TileGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    let shape = try context.shapeValue(1)
    try context.requireShape(0, try Tile.shape(shape, repeats: try context.ints(2)))
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    let gradient = try context.input(0)
    let shape = try context.output(0).shape
    guard gradient.elementCount > 0 else {
      dx.update(repeating: 0, count: shape.elementCount)
      return
    }
    let strides = gradient.shape.strides
    // Where each repetition lies, counted from the first.
    var offsets = [0]
    for (axis, count) in try context.ints(2).enumerated() where count > 1 {
      let step = shape[axis] * strides[axis]
      offsets = offsets.flatMap { offset in (0..<count).map { offset + $0 * step } }
    }
    StridedRows(shape, strides).run(context) { output, input, step, count in
      let dx = dx + output
      dx.update(repeating: 0, count: count)
      for offset in offsets {
        let dy = dy + input + offset
        if step == 1 {
          for i in 0..<count { dx[i] += dy[i] }
        } else {
          for i in 0..<count { dx[i] += dy[i &* step] }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
