import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of Split: the outputs' gradients one after the other, zeros where one is left out.
///
/// Inputs: the shape of x, the parts' sizes (optional), then the gradient of each output
/// (optional, at least one). Attributes: `axis` (0), `num_outputs`.
struct SplitGradient: MovingOperator {
  let name = "SplitGradient"
  let domain = graftDomain
  let inputCount = 3...Int.max

  func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.output(0).elementType
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try context.shapeValue(0)
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    let count = try context.node.int("num_outputs")
    guard context.has(1) || count <= context.inputs.count - 2 else {
      throw GraftError(
        .damaged, "num_outputs is \(count), but there are \(context.inputs.count - 2) gradients")
    }
    let sizes = try Split.sizes(
      listed: try context.intsIfPresent(1), count: count, of: shape[axis])
    var elementType: ElementType?
    for index in context.inputs.indices.dropFirst(2) where context.has(index) {
      guard index - 2 < sizes.count else {
        throw GraftError(.damaged, "there are more gradients than the \(sizes.count) parts")
      }
      var expected = shape
      expected[axis] = sizes[index - 2]
      try context.requireShape(index, expected)
      let type = try context.input(index).elementType
      guard type == elementType ?? type else {
        throw context.typeError(index, "of one type with the other gradients")
      }
      elementType = type
    }
    let found = try elementType.orThrow { GraftError(.damaged, "there is no gradient") }
    return [TensorType(found, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let output = try context.output(0)
    guard output.elementCount > 0 else { return }
    let whole = try AxisColumns(output.shape, axis: try context.node.int("axis", default: 0))
    let sizes = try context.kept(readingInputs: 1..<2) {
      try Split.sizes(
        listed: try context.intsIfPresent(1), count: try context.node.int("num_outputs"),
        of: whole.size)
    }
    var dx = try context.outputUnits(0, as: unit)
    let width = whole.size * whole.inner
    for (index, size) in sizes.enumerated() {
      let length = size * whole.inner
      if context.has(index + 2) {
        RowCopy(rows: whole.outer, length: length, sourceStride: length, targetStride: width)
          .run(context, from: try context.inputUnits(index + 2, as: unit), to: dx)
      } else {
        for row in 0..<whole.outer { (dx + row * width).update(repeating: 0, count: length) }
      }
      dx += length
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
