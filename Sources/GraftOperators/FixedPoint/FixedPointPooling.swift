import GraftDiagnostics
import GraftGraph
import GraftTensor

/// An operator on the integers that each window of a picture sees.
protocol FixedPointPoolingOperator: FixedPointOperator {
  /// Fills the channels of output positions.
  func pool<T: FixedPointElement>(
    _ pooling: FixedPointPooling, _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>,
    _ range: FixedPointRange, _ positions: Range<Int>)
}

extension FixedPointPoolingOperator {
  package var inputCount: ClosedRange<Int> { 1...1 }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.fixedPoint)
    let type = try context.input(0).elementType
    _ = try FixedPointRange(context.node, type)
    return [TensorType(type, try FixedPointPooling(context.node, context.shape(0)).outputShape)]
  }

  @inline(__always)
  package func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let pooling = try context.kept {
      try FixedPointPooling(context.node, context.input(0).shape)
    }
    let range = try context.kept { try FixedPointRange(context.node, T.elementType) }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    context.parallel(pooling.positions, cost: pooling.positionCost) {
      pool(pooling, x, y, range, $0)
    }
  }

  package var samples: [OperatorSample] { FixedPointSamples.pooling }
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
