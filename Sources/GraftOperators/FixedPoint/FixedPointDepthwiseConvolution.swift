import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A convolution of integers in which every output channel reads one input channel: channel m reads
/// m / (M / C).
///
/// Shapes: X [N, H, W, C], W [1, KH, KW, M] with M a multiple of C, B [M] -> Y [N, H', W', M].
/// Types, scaling, attributes and sums: as in `FixedPointConvolution`, without `group`. No
/// gradient. Source: TensorFlow Lite's DEPTHWISE_CONV_2D, reference kernel.
struct FixedPointDepthwiseConvolution: FixedPointOperator {
  let name = "FixedPointDepthwiseConvolution"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.requireRank(0, 4...4)
    try context.requireRank(1, 4...4)
    let geometry = try Geometry(context.node, try context.shape(0), try context.shape(1))
    try FixedPointSums.checkTypes(context, channels: geometry.outputChannels)
    let type = try context.input(0).elementType
    _ = try FixedPointSums(
      context.node, input: type, weights: try context.input(1).elementType,
      channels: geometry.outputChannels)
    return [TensorType(type, geometry.outputShape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    if try context.hasWideSums() {
      try run(type, Int64.self, context)
    } else {
      try run(type, Int32.self, context)
    }
  }

  private func run<T: FixedPointElement, S: FixedPointSum>(
    _ type: T.Type, _ sum: S.Type, _ context: KernelContext
  ) throws {
    let geometry = try context.kept {
      try Geometry(context.node, try context.input(0).shape, try context.input(1).shape)
    }
    let sums = try context.kept {
      try FixedPointSums(
        context.node, input: T.elementType, weights: try context.input(1).elementType,
        channels: geometry.outputChannels)
    }
    let y = try context.output(0, as: type)
    try context.withOperands(sums, type, sum) { operands in
      let pass = Pass<T, S>(geometry: geometry, operands: operands, y: y)
      context.parallel(geometry.rows, cost: geometry.rowCost) { pass.run($0) }
    }
  }

  private struct Geometry {
    let batch: Int
    let inputChannels: Int
    let outputChannels: Int
    let window: SlidingWindow

    init(_ node: Node, _ input: Shape, _ weights: Shape) throws {
      guard weights[0] == 1, input[3] > 0, weights[3] % input[3] == 0 else {
        throw GraftError(
          .shapeMismatch,
          "weights of shape \(weights) do not fit an input of shape \(input); they must have shape "
            + "[1, height, width, a multiple of \(input[3])]")
      }
      batch = input[0]
      inputChannels = input[3]
      outputChannels = weights[3]
      window = try WindowAttributes(node, kernel: [weights[1], weights[2]]).window(
        over: [input[1], input[2]])
    }

    var outputShape: Shape { Shape([batch] + window.outputDimensions + [outputChannels]) }
    var rows: Int { batch * window.height.output }
    var rowCost: Int { window.width.output * outputChannels * (window.tapCount + 4) }
    /// Output channels that read one input channel.
    var multiple: Int { outputChannels / inputChannels }
  }

  private struct Pass<T: FixedPointElement, S: FixedPointSum> {
    let geometry: Geometry
    let operands: FixedPointOperands<S>
    let y: UnsafeMutablePointer<T>

    func run(_ rows: Range<Int>) {
      let channels = geometry.outputChannels
      let width = geometry.window.width
      withThreadScratch(channels, of: S.self) { totals in
        for row in rows {
          let (image, oy) = row.quotientAndRemainder(dividingBy: geometry.window.height.output)
          for ox in 0..<width.output {
            totals.update(from: operands.bias, count: channels)
            addTaps(totals, image, oy, ox)
            let target = y + (row * width.output + ox) * channels
            for channel in 0..<channels {
              target[channel] = operands.output(totals[channel], channel)
            }
          }
        }
      }
    }

    private func addTaps(
      _ totals: UnsafeMutablePointer<S>, _ image: Int, _ oy: Int, _ ox: Int
    ) {
      let (height, width) = (geometry.window.height, geometry.window.width)
      for ky in height.taps(inside: oy) {
        let iy = height.start(oy) + ky * height.dilation
        for kx in width.taps(inside: ox) {
          let ix = width.start(ox) + kx * width.dilation
          let position = (image * height.input + iy) * width.input + ix
          add(
            totals, operands.x + position * geometry.inputChannels,
            operands.weights + (ky * width.kernel + kx) * geometry.outputChannels)
        }
      }
    }

    @inline(__always)
    private func add(
      _ totals: UnsafeMutablePointer<S>, _ x: UnsafePointer<Int16>, _ w: UnsafePointer<Int16>
    ) {
      let multiple = geometry.multiple
      guard multiple > 1 else {
        for i in 0..<geometry.outputChannels {
          totals[i] &+= S(truncatingIfNeeded: Int32(x[i]) &* Int32(w[i]))
        }
        return
      }
      var output = 0
      for input in 0..<geometry.inputChannels {
        for _ in 0..<multiple {
          totals[output] &+= S(truncatingIfNeeded: Int32(x[input]) &* Int32(w[output]))
          output &+= 1
        }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.depthwiseConvolution }
}
