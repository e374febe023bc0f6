import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A transposed convolution of integers: every (x - x zero point) times (w - w zero point) is added
/// where the convolution with W would have read; the sums plus bias are scaled as `FixedPointSums`
/// says.
///
/// Shapes: X [N, H, W, C], W [M, KH, KW, C], B [M] -> Y [N, `output_shape`, M]. Types and sums: as
/// in `FixedPointConvolution`. Attributes: those of `FixedPointSums`, `output_shape` (height and
/// width), `strides` (1), `pads` (0; those of the convolution, beginnings count only). No gradient.
/// Source: TensorFlow Lite's TRANSPOSE_CONV, reference kernel.
struct FixedPointTransposedConvolution: FixedPointConvolving {
  let name = "FixedPointTransposedConvolution"

  struct Geometry: FixedPointConvolutionGeometry {
    let batch: Int
    let inputChannels: Int
    let channels: Int
    /// The convolution that reads the output and makes the input.
    let height: WindowAxis
    let width: WindowAxis

    init(_ node: Node, _ input: Shape, _ weights: Shape) throws {
      guard weights[3] == input[3] else {
        throw GraftError(
          .shapeMismatch,
          "the input has \(input[3]) channels; weights of shape \(weights) take \(weights[3])")
      }
      let kernel = [weights[1], weights[2]]
      let attributes = try WindowAttributes(node, kernel: kernel)
      let size = try WindowAttributes.list(node, "output_shape", 2, default: 1, minimum: 1)
      batch = input[0]
      inputChannels = input[3]
      channels = weights[0]
      let axes = (0..<2).map { axis in
        WindowAxis(
          input: size[axis], kernel: kernel[axis], stride: attributes.strides[axis], dilation: 1,
          padBegin: attributes.padsBegin[axis], padEnd: 0, output: input[axis + 1])
      }
      (height, width) = (axes[0], axes[1])
    }

    var outputShape: Shape { [batch, height.input, width.input, channels] }
    var outputPositions: Int { batch * height.input * width.input }
    var positionCost: Int { channels * height.kernel * width.kernel * inputChannels }

    func run<T: FixedPointElement, S: FixedPointSum>(
      _ operands: FixedPointOperands<S>, _ y: UnsafeMutablePointer<T>, _ context: KernelContext
    ) {
      context.parallel(outputPositions, cost: positionCost) { range in
        for position in range {
          for channel in 0..<channels {
            let total = sum(operands, position, channel)
            y[position * channels + channel] = operands.output(total, channel)
          }
        }
      }
    }

    /// The bias and the sum over the taps that meet an output.
    @inline(__always)
    func sum<S: FixedPointSum>(
      _ operands: FixedPointOperands<S>, _ position: Int, _ channel: Int
    ) -> S {
      let (row, ox) = position.quotientAndRemainder(dividingBy: width.input)
      let (image, oy) = row.quotientAndRemainder(dividingBy: height.input)
      var total = operands.bias[channel]
      for ky in 0..<height.kernel {
        guard let iy = source(height, oy, ky) else { continue }
        for kx in 0..<width.kernel {
          guard let ix = source(width, ox, kx) else { continue }
          let tap = (channel * height.kernel + ky) * width.kernel + kx
          let place = (image * height.output + iy) * width.output + ix
          total &+= S.dot(
            operands.x + place * inputChannels, operands.weights + tap * inputChannels,
            inputChannels)
        }
      }
      return total
    }

    /// The input position from which a tap reaches an output.
    @inline(__always)
    private func source(_ axis: WindowAxis, _ output: Int, _ tap: Int) -> Int? {
      let (position, rest) = (output + axis.padBegin - tap)
        .quotientAndRemainder(dividingBy: axis.stride)
      return rest == 0 && position >= 0 && position < axis.output ? position : nil
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.transposedConvolution }
}
