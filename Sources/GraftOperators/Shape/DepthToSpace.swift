import GraftGraph
import GraftTensor

/// y = x with blocks of channels laid out as `blocksize` x `blocksize` squares of pixels.
///
/// Shapes: x [N, C * b * b, H, W] -> y [N, C, H * b, W * b]. Attribute `mode`: `DCR` (the
/// default; channel (i * b + j) * C + c goes to pixel (i, j) of channel c) or `CRD` (channel
/// (c * b + i) * b + j does). Gradient: the elements moved back. Source: ONNX DepthToSpace-13.
struct DepthToSpace: MovingOperator {
  let name = "DepthToSpace"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let blocks = try SpaceBlocks(deep: input.shape, context.node)
    return [TensorType(input.elementType, blocks.wideShape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept {
      try SpaceBlocks(deep: try context.input(0).shape, context.node).toSpace
    }
    copy.run(
      context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit))
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "DepthToSpaceGradient", domain: graftDomain, [builder.outputGradient],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    let crd = Attribute.string("CRD")
    return [
      OperatorSample(
        "depth first", attributes: ["blocksize": .int(2)], inputs: [.random([2, 8, 2, 3])]),
      OperatorSample(
        "column first", attributes: ["blocksize": .int(2), "mode": crd],
        inputs: [.random([2, 8, 2, 3])]),
      OperatorSample(
        "blocks of three", attributes: ["blocksize": .int(3), "mode": crd],
        inputs: [.random([1, 18, 2, 5])]),
      OperatorSample(
        "blocks of one", attributes: ["blocksize": .int(1)], inputs: [.random([1, 3, 2, 2])]),
      OperatorSample("empty", attributes: ["blocksize": .int(2)], inputs: [.random([0, 4, 2, 2])]),
      OperatorSample(
        "misfit", attributes: ["blocksize": .int(2)], inputs: [.random([1, 6, 2, 2])],
        error: "6 channels cannot be spread over blocks of 4"),
      OperatorSample(
        "rank", attributes: ["blocksize": .int(2)], inputs: [.random([4, 2, 2])],
        error: "its rank must be 4"),
    ]
  }
}
