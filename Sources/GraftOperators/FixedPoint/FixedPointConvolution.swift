import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A convolution of integers: the sum over taps and channels of (x - x zero point) * (w - w zero
/// point), plus bias, scaled as `FixedPointSums` says; positions outside X count as the zero point.
///
/// Shapes: X [N, H, W, C], W [M, KH, KW, C / group], B [M] -> Y [N, H', W', M]. Types: uint8 with
/// uint8 weights, int8 or int16 with int8 weights; B int32, for int16 also int64. Attributes: those
/// of `FixedPointSums`, `group` (1) and those of `WindowAttributes`. Sums of 32 bits, for int16 of
/// 64 (of 32 with an int32 bias). No gradient. Source: TensorFlow Lite's CONV_2D and
/// FULLY_CONNECTED, reference kernels.
struct FixedPointConvolution: FixedPointConvolving {
  let name = "FixedPointConvolution"

  /// Sizes of a convolution of channels-last pictures.
  struct Geometry: FixedPointConvolutionGeometry {
    let batch: Int
    let groups: Int
    /// Channels of the input, and those in one group of the output.
    let inputChannels: Int
    let outputChannels: Int
    let window: SlidingWindow

    init(_ node: Node, _ input: Shape, _ weights: Shape) throws {
      groups = try ConvolutionGeometry.groups(node)
      guard multiply(weights[3], groups) == input[3], weights[0] % groups == 0 else {
        throw GraftError(
          .shapeMismatch,
          "an input of shape \(input) does not fit weights of shape \(weights) in \(groups) groups")
      }
      batch = input[0]
      inputChannels = input[3]
      outputChannels = weights[0] / groups
      window = try WindowAttributes(node, kernel: [weights[1], weights[2]]).window(
        over: [input[1], input[2]])
    }

    var channels: Int { groups * outputChannels }
    var outputShape: Shape { Shape([batch] + window.outputDimensions + [channels]) }
    /// Rows of the output in all pictures.
    var rows: Int { batch * window.height.output }
    var groupChannels: Int { inputChannels / groups }
    /// Numbers that one output is a sum of.
    var patchCount: Int { window.tapCount * groupChannels }
    var rowCost: Int {
      window.width.output * channels * (patchCount / 8 + 8)
    }

    func run<T: FixedPointElement, S: FixedPointSum>(
      _ operands: FixedPointOperands<S>, _ y: UnsafeMutablePointer<T>, _ context: KernelContext
    ) {
      let pass = Pass(geometry: self, operands: operands, y: y)
      context.parallel(rows, cost: rowCost) { pass.run($0) }
    }
  }

  /// One run of the loops.
  private struct Pass<T: FixedPointElement, S: FixedPointSum> {
    let geometry: Geometry
    let operands: FixedPointOperands<S>
    let y: UnsafeMutablePointer<T>

    /// Positions of one row whose patches meet each weight while it is in the cache.
    private static var blockSize: Int { 8 }

    func run(_ rows: Range<Int>) {
      let window = geometry.window
      withThreadScratch(Self.blockSize * geometry.patchCount, of: Int16.self) { patches in
        for row in rows {
          let (image, oy) = row.quotientAndRemainder(dividingBy: window.height.output)
          for group in 0..<geometry.groups {
            for ox in stride(from: 0, to: window.width.output, by: Self.blockSize) {
              let count = min(Self.blockSize, window.width.output - ox)
              for i in 0..<count {
                fill(patches + i * geometry.patchCount, image, group, oy, ox + i)
              }
              multiply(patches, count, group, row * window.width.output + ox)
            }
          }
        }
      }
    }

    /// The numbers that the outputs at one position see.
    private func fill(
      _ patch: UnsafeMutablePointer<Int16>, _ image: Int, _ group: Int, _ oy: Int, _ ox: Int
    ) {
      let window = geometry.window
      let channels = geometry.groupChannels
      var target = patch
      for ky in 0..<window.height.kernel {
        let iy = window.height.start(oy) + ky * window.height.dilation
        let isInside = iy >= 0 && iy < window.height.input
        for kx in 0..<window.width.kernel {
          let ix = window.width.start(ox) + kx * window.width.dilation
          if isInside, ix >= 0, ix < window.width.input {
            let position = (image * window.height.input + iy) * window.width.input + ix
            let source = operands.x + position * geometry.inputChannels + group * channels
            target.update(from: source, count: channels)
          } else {
            target.update(repeating: 0, count: channels)
          }
          target += channels
        }
      }
    }

    /// All channels of one group at `count` neighbouring positions.
    private func multiply(
      _ patches: UnsafePointer<Int16>, _ count: Int, _ group: Int, _ position: Int
    ) {
      let size = geometry.patchCount
      let width = geometry.channels
      for channel in group * geometry.outputChannels..<(group + 1) * geometry.outputChannels {
        let row = operands.weights + channel * size
        for i in 0..<count {
          let sum = S.dot(patches + i * size, row, size) &+ operands.bias[channel]
          y[(position + i) * width + channel] = operands.output(sum, channel)
        }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.convolution }
}
