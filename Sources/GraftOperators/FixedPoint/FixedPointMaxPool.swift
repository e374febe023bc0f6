import GraftGraph
import GraftTensor

/// The largest integer that a window sees, limited; padding does not count.
///
/// Shapes, types and attributes: as in `FixedPointAveragePool`. A window that sees nothing gives
/// the smallest number. No gradient. Source: TensorFlow Lite's MAX_POOL_2D, reference kernel.
struct FixedPointMaxPool: FixedPointOperator {
  let name = "FixedPointMaxPool"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.fixedPoint)
    let type = try context.input(0).elementType
    _ = try FixedPointRange(context.node, type)
    return [TensorType(type, try FixedPointPooling(context.node, context.shape(0)).outputShape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let pooling = try context.kept {
      try FixedPointPooling(context.node, context.input(0).shape)
    }
    let range = try context.kept { try FixedPointRange(context.node, T.elementType) }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let channels = pooling.channels
    context.parallel(pooling.positions, cost: pooling.positionCost) { positions in
      for position in positions {
        let target = y + position * channels
        target.update(repeating: .min, count: channels)
        _ = pooling.forEachTap(of: position) { input in
          for i in 0..<channels { target[i] = max(target[i], x[input &+ i]) }
        }
        for i in 0..<channels {
          target[i] = T(Int32(truncatingIfNeeded: target[i]), in: range)
        }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.pooling }
}
