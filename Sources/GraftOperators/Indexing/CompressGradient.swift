import GraftGraph
import GraftTensor

/// The gradient of Compress: zeros with dy at what was kept.
///
/// Inputs: dy, the shape of x, the condition. Attribute `axis` (none: x as a vector).
struct CompressGradient: MovingOperator {
  let name = "CompressGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(2, [.bool])
    let shape = try context.shapeValue(1)
    let columns = try TrueFlags.columns(shape, context.node)
    let kept = try TrueFlags(try context.value(2), of: columns.size).positions.count
    try context.requireShape(0, try TrueFlags.shape(shape, context.node, kept: kept))
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let output = try context.output(0)
    let columns = try TrueFlags.columns(output.shape, context.node)
    let positions = try TrueFlags(try context.input(2), of: columns.size).positions
    let dy = try context.inputUnits(0, as: unit)
    let dx = try context.outputUnits(0, as: unit)
    dx.update(repeating: 0, count: output.elementCount)
    guard try context.input(0).elementCount > 0 else { return }
    let (count, length) = (positions.count, columns.inner)
    for row in 0..<columns.outer * count {
      let target = row / count * columns.size + positions[row % count]
      (dx + target * length).update(from: dy + row * length, count: length)
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
