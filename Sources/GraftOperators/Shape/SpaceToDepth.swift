import GraftGraph
import GraftTensor

/// y = x with `blocksize` x `blocksize` squares of pixels laid out as channels.
///
/// Shapes: x [N, C, H * b, W * b] -> y [N, C * b * b, H, W]; pixel (i, j) of a square in channel c
/// goes to channel (i * b + j) * C + c. Gradient: DepthToSpace. Source: ONNX SpaceToDepth-13.
struct SpaceToDepth: MovingOperator {
  let name = "SpaceToDepth"
  let inputCount = 1...1

  /// The node without a `mode`, which only DepthToSpace has.
  private static func blocks(_ shape: Shape, _ node: Node) throws -> SpaceBlocks {
    var node = node
    node.attributes["mode"] = nil
    return try SpaceBlocks(wide: shape, node)
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    return [TensorType(input.elementType, try Self.blocks(input.shape, context.node).deepShape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept {
      try Self.blocks(try context.input(0).shape, context.node).toDepth
    }
    copy.run(
      context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit))
  }

  let differentiation = Differentiation.rule { builder in
    let block = Attribute.int(try builder.node.int("blocksize"))
    return [builder.add("DepthToSpace", [builder.outputGradient], ["blocksize": block])]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "blocks of two", attributes: ["blocksize": .int(2)], inputs: [.random([2, 3, 4, 6])]),
      OperatorSample(
        "blocks of three", attributes: ["blocksize": .int(3)], inputs: [.random([1, 2, 3, 9])]),
      OperatorSample(
        "misfit", attributes: ["blocksize": .int(2)], inputs: [.random([1, 3, 4, 5])],
        error: "4 x 5 does not divide into blocks of 2 x 2"),
      OperatorSample(
        "no size", attributes: ["blocksize": .int(0)], inputs: [.random([1, 3, 4, 4])],
        error: "blocksize is 0"),
    ]
  }
}
