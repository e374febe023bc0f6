import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y[i0, i1, ...] = x with its axes in the order `perm`.
///
/// Attribute `perm`: the input's axis that becomes each output axis; by default the reverse order.
/// Gradient: the transposition back. Source: ONNX Transpose-21.
struct Transpose: MovingOperator {
  let name = "Transpose"
  let inputCount = 1...1

  static func permutation(_ node: Node, rank: Int) throws -> [Int] {
    let order = try node.ints("perm", default: Array((0..<rank).reversed()))
    guard order.sorted() == Array(0..<rank) else {
      throw GraftError(.damaged, "perm \(order) does not order the \(rank) axes of the input")
    }
    return order
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let order = try Self.permutation(context.node, rank: input.shape.rank)
    return [TensorType(input.elementType, Shape(order.map { input.shape[$0] }))]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept {
      let shape = try context.input(0).shape
      let strides = shape.strides
      return StridedCopy(
        try context.output(0).shape,
        try Self.permutation(context.node, rank: shape.rank).map { strides[$0] })
    }
    copy
      .run(
        context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit)
      )
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.node.has("perm") else {
      return [builder.add("Transpose", [builder.outputGradient])]
    }
    let order = try builder.node.ints("perm")
    var inverse = order
    for (position, axis) in order.enumerated() where inverse.indices.contains(axis) {
      inverse[axis] = position
    }
    return [builder.add("Transpose", [builder.outputGradient], ["perm": .ints(inverse)])]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 4])]),
      OperatorSample("tiles", inputs: [.random([37, 43])]),
      OperatorSample(
        "heads", attributes: ["perm": .ints([0, 2, 1, 3])], inputs: [.random([2, 3, 4, 5])]),
      OperatorSample(
        "cycle", attributes: ["perm": .ints([2, 0, 1])],
        inputs: [.sample((0..<24).map(Int64.init), [2, 3, 4])]),
      OperatorSample(
        "channels last", attributes: ["perm": .ints([0, 2, 3, 1])],
        inputs: [.random([2, 3, 5, 7])]),
      OperatorSample(
        "channels first", attributes: ["perm": .ints([0, 3, 1, 2])],
        inputs: [.random([2, 5, 7, 3])]),
      OperatorSample(
        "keys", attributes: ["perm": .ints([0, 2, 3, 1])], inputs: [.random([2, 9, 4, 17])]),
      OperatorSample(
        "bytes", attributes: ["perm": .ints([1, 0, 2])],
        inputs: [.sample((0..<24).map(UInt8.init), [2, 3, 4])]),
      OperatorSample("bool", inputs: [.sample([true, false, false, true, true, false], [2, 3])]),
      OperatorSample("scalar", inputs: [.random([])]),
      OperatorSample("empty", inputs: [.random([2, 0, 3])]),
      OperatorSample(
        "wrong axes", attributes: ["perm": .ints([0, 0])], inputs: [.random([2, 2])],
        error: "does not order the 2 axes"),
    ]
  }
}
