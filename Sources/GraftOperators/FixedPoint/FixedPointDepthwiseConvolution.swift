import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A convolution of integers in which every output channel reads one input channel: channel m reads
/// m / (M / C).
///
/// Shapes: X [N, H, W, C], W [1, KH, KW, M] with M a multiple of C, B [M] -> Y [N, H', W', M].
/// Types, scaling, attributes and sums: as in `FixedPointConvolution`, without `group`. No
/// gradient. Source: TensorFlow Lite's DEPTHWISE_CONV_2D, reference kernel.
struct FixedPointDepthwiseConvolution: FixedPointConvolving {
  let name = "FixedPointDepthwiseConvolution"

  struct Geometry: FixedPointConvolutionGeometry {
    let batch: Int
    let inputChannels: Int
    let channels: Int
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
      channels = weights[3]
      window = try WindowAttributes(node, kernel: [weights[1], weights[2]]).window(
        over: [input[1], input[2]])
    }

    var outputShape: Shape { Shape([batch] + window.outputDimensions + [channels]) }
    var rows: Int { batch * window.height.output }
    var rowCost: Int { window.width.output * channels * (window.tapCount + 4) }
    /// Output channels that read one input channel.
    var multiple: Int { channels / inputChannels }

    func run<T: FixedPointElement, S: FixedPointSum>(
      _ operands: FixedPointOperands<S>, _ y: UnsafeMutablePointer<T>, _ context: KernelContext
    ) {
      let pass = Pass(geometry: self, operands: operands, y: y)
      context.parallel(rows, cost: rowCost) { pass.run($0) }
    }
  }

  private struct Pass<T: FixedPointElement, S: FixedPointSum> {
    let geometry: Geometry
    let operands: FixedPointOperands<S>
    let y: UnsafeMutablePointer<T>

    func run(_ rows: Range<Int>) {
      let channels = geometry.channels
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
            operands.weights + (ky * width.kernel + kx) * geometry.channels)
        }
      }
    }

    @inline(__always)
    private func add(
      _ totals: UnsafeMutablePointer<S>, _ x: UnsafePointer<Int16>, _ w: UnsafePointer<Int16>
    ) {
      let multiple = geometry.multiple
      guard multiple > 1 else {
        for i in 0..<geometry.channels {
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
