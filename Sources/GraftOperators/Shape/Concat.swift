import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the inputs one after the other along `axis`; they agree in all other dimensions.
///
/// Gradient: the output's gradient, split again. Source: ONNX Concat-13.
struct Concat: MovingOperator {
  let name = "Concat"
  let inputCount = 1...Int.max

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let first = try context.input(0)
    var shape = first.shape
    let axis = try shape.axis(try context.node.int("axis"))
    for index in 1..<max(1, context.inputs.count) {
      try context.requireSameType(0, index)
      let other = try context.shape(index)
      var expected = first.shape
      if other.rank == expected.rank { expected[axis] = other[axis] }
      guard other == expected else {
        throw GraftError(
          .shapeMismatch,
          "inputs 0 and \(index) have shapes \(first.shape) and \(other); they may differ along "
            + "axis \(axis) only")
      }
      shape[axis] = try sumOfSizes(shape[axis], other[axis])
    }
    return [TensorType(first.elementType, shape)]
  }

  func isJoin(_ context: TypeContext) throws -> Bool {
    let shape = try context.shape(0)
    let axis = try shape.axis(try context.node.int("axis"))
    return shape[..<axis].allSatisfy { $0 == 1 }
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let output = try context.output(0)
    guard output.elementCount > 0 else { return }
    var y = try context.outputUnits(0, as: unit)
    let whole = try AxisColumns(output.shape, axis: try context.node.int("axis"))
    let width = whole.size * whole.inner
    for index in context.inputs.indices {
      let count = try context.input(index).elementCount / whole.outer
      RowCopy(rows: whole.outer, length: count, sourceStride: count, targetStride: width)
        .run(context, from: try context.inputUnits(index, as: unit), to: y)
      y += count
    }
  }

  let differentiation = Differentiation.rule { builder in
    let count = builder.node.inputs.count
    guard count > 1 else { return [builder.outputGradient] }
    let axis = try builder.node.int("axis")
    var range: [String: Attribute] = ["start": .int(axis)]
    // Behind the last axis there is no axis -0.
    if axis != -1, axis < Int.max { range["end"] = .int(axis + 1) }
    let sizes = builder.node.inputs.map { builder.add("Shape", [$0], range) }
    let split = builder.add("Concat", sizes, ["axis": .int(0)])
    let wanted = (0..<count).map { builder.wants($0) }
    let parts = builder.add(
      "Split", [builder.outputGradient, split], ["axis": .int(axis)], outputs: wanted)
    return parts.map { $0.isEmpty ? nil : $0 }
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "rows", attributes: ["axis": .int(0)], inputs: [.random([2, 3]), .random([4, 3])]),
      OperatorSample(
        "channels", attributes: ["axis": .int(1)],
        inputs: [.random([2, 3, 2, 2]), .random([2, 1, 2, 2]), .random([2, 2, 2, 2])]),
      OperatorSample(
        "last axis", attributes: ["axis": .int(-1)], inputs: [.random([2, 3]), .random([2, 2])]),
      OperatorSample(
        "second last", attributes: ["axis": .int(-2)],
        inputs: [.random([2, 3, 2]), .random([2, 1, 2])]),
      OperatorSample("one", attributes: ["axis": .int(0)], inputs: [.random([3])]),
      OperatorSample(
        "an empty one", attributes: ["axis": .int(0)], inputs: [.random([0, 2]), .random([3, 2])]),
      OperatorSample(
        "integers", attributes: ["axis": .int(0)],
        inputs: [.sample([1, 2] as [Int64]), .sample([3] as [Int64])]),
      OperatorSample(
        "bool", attributes: ["axis": .int(0)], inputs: [.sample([true]), .sample([false, true])]),
      OperatorSample(
        "misfit", attributes: ["axis": .int(0)], inputs: [.random([2, 3]), .random([2, 4])],
        error: "may differ along axis 0 only"),
      OperatorSample(
        "ranks", attributes: ["axis": .int(0)], inputs: [.random([2]), .random([2, 1])],
        error: "may differ along axis 0 only"),
      OperatorSample(
        "types", attributes: ["axis": .int(0)],
        inputs: [.random([2]), .sample([1] as [Int64])], error: "input 1 is int64"),
    ]
  }
}
