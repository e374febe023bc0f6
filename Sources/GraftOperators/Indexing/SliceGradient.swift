import GraftGraph
import GraftTensor

/// The gradient of Slice: zeros, with dy at the elements that were taken.
///
/// Inputs: dy, the shape of x, then Slice's starts, ends, axes and steps.
struct SliceGradient: MovingOperator {
  let name = "SliceGradient"
  let domain = graftDomain
  let inputCount = 4...6

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try context.shapeValue(1)
    let geometry = try SliceGeometry(
      shape, starts: try context.ints(2), ends: try context.ints(3),
      axes: try context.intsIfPresent(4), steps: try context.intsIfPresent(5))
    try context.requireShape(0, geometry.shape)
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let (taken, rows) = try context.kept(readingInputs: 2..<6) {
      let geometry = try SliceGeometry(
        shape, starts: try context.ints(2), ends: try context.ints(3),
        axes: try context.intsIfPresent(4), steps: try context.intsIfPresent(5))
      return (
        geometry.shape, StridedRows(geometry.shape, geometry.strides, start: geometry.start)
      )
    }
    let dy = try context.inputUnits(0, as: unit)
    let dx = try context.outputUnits(0, as: unit)
    if taken != shape { dx.update(repeating: 0, count: shape.elementCount) }
    rows.run(context) { taken, start, step, count in
      let dy = dy + taken
      let dx = dx + start
      for i in 0..<count { dx[i &* step] = dy[i] }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
