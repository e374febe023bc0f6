import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The mean of the integers that a window sees, rounded to nearest, halves away from zero, and
/// limited; padding does not count.
///
/// Shapes: X [N, H, W, C] -> Y [N, H', W', C]. Types: uint8, int8, int16. Attributes:
/// `kernel_shape`, those of `WindowAttributes`, `minimum`, `maximum` (the type's range). X and Y
/// have one scale. A window that sees nothing gives 0. No gradient. Source: TensorFlow Lite's
/// AVERAGE_POOL_2D, reference kernel.
struct FixedPointAveragePool: FixedPointOperator {
  let name = "FixedPointAveragePool"
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
      withThreadScratch(channels, of: Int32.self) { sums in
        for position in positions {
          sums.update(repeating: 0, count: channels)
          let count = pooling.forEachTap(of: position) { input in
            for i in 0..<channels { sums[i] &+= Int32(truncatingIfNeeded: x[input &+ i]) }
          }
          let target = y + position * channels
          for i in 0..<channels { target[i] = T(Self.mean(sums[i], count), in: range) }
        }
      }
    }
  }

  @inline(__always)
  private static func mean(_ sum: Int32, _ count: Int32) -> Int32 {
    guard count > 0 else { return 0 }
    return (sum &+ (sum > 0 ? count / 2 : -(count / 2))) / count
  }

  var samples: [OperatorSample] { FixedPointSamples.pooling }
}

/// The sizes of a pooling of channels-last pictures.
struct FixedPointPooling {
  let batch: Int
  let channels: Int
  let window: SlidingWindow

  init(_ node: Node, _ input: Shape) throws {
    guard input.rank == 4 else {
      throw GraftError(
        .shapeMismatch, "input 0 has shape \(input); it must be [batch, height, width, channels]")
    }
    batch = input[0]
    channels = input[3]
    window = try WindowAttributes(node, kernel: try node.ints("kernel_shape"))
      .window(over: [input[1], input[2]])
  }

  var outputShape: Shape { Shape([batch] + window.outputDimensions + [channels]) }
  var positions: Int { batch * window.outputCount }
  var positionCost: Int { channels * window.tapCount }

  /// Calls `body` with where the channels of every input position in a window start.
  ///
  /// - Returns: how many positions there are.
  @inline(__always)
  func forEachTap(of position: Int, _ body: (Int) -> Void) -> Int32 {
    let (row, ox) = position.quotientAndRemainder(dividingBy: window.width.output)
    let (image, oy) = row.quotientAndRemainder(dividingBy: window.height.output)
    let (ys, xs) = (window.height.taps(inside: oy), window.width.taps(inside: ox))
    for ky in ys {
      let iy = image * window.height.input + window.height.start(oy) + ky * window.height.dilation
      for kx in xs {
        let ix = window.width.start(ox) + kx * window.width.dilation
        body((iy * window.width.input + ix) * channels)
      }
    }
    return Int32(truncatingIfNeeded: ys.count * xs.count)
  }
}
