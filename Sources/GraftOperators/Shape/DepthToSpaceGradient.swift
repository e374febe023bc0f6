import GraftGraph
import GraftTensor

/// The gradient of DepthToSpace: dy's pixels moved back to the channels they came from.
///
/// Attributes: those of DepthToSpace.
struct DepthToSpaceGradient: MovingOperator {
  let name = "DepthToSpaceGradient"
  let domain = graftDomain
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let gradient = try context.input(0)
    let blocks = try SpaceBlocks(wide: gradient.shape, context.node)
    return [TensorType(gradient.elementType, blocks.deepShape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept {
      try SpaceBlocks(wide: try context.input(0).shape, context.node).toDepth
    }
    copy.run(
      context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit))
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
