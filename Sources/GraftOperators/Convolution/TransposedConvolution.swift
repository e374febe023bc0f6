import GraftGraph
import GraftTensor

/// The gradient of a convolution with respect to its input, which is also what ConvTranspose
/// computes: every output's value goes to the input positions that its window covers.
struct TransposedConvolution<T: FloatingElement> {
  /// The convolution whose input is computed.
  let geometry: ConvolutionGeometry
  /// The geometry with its inputs and outputs exchanged; nil unless its strides are one.
  let mirrored: ConvolutionGeometry?
  let threads: Int

  private var window: SlidingWindow { geometry.window }

  /// - Parameters:
  ///   - dy: [batch, groups * output channels, windows].
  ///   - weights: [groups * output channels, input channels, taps].
  ///   - bias: added to every channel of `dx`, [groups * input channels]; zeros when nil.
  ///   - dx: [batch, groups * input channels, positions].
  func run(
    _ context: KernelContext, _ dy: UnsafePointer<T>, _ weights: UnsafePointer<T>,
    _ bias: UnsafePointer<T>?, _ dx: UnsafeMutablePointer<T>
  ) throws {
    if let mirrored {
      try runMirrored(mirrored, context, dy, weights, bias, dx)
    } else {
      runScattered(dy, weights, bias, dx)
    }
  }

  /// With unit strides: a convolution of `dy` with the weights mirrored and channels swapped.
  private func runMirrored(
    _ mirrored: ConvolutionGeometry, _ context: KernelContext, _ dy: UnsafePointer<T>,
    _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?, _ dx: UnsafeMutablePointer<T>
  ) throws {
    let (inputs, outputs) = (geometry.inputChannels, geometry.outputChannels)
    let taps = window.tapCount
    let groupSize = inputs * outputs * taps
    try context.withScratch(geometry.groups * groupSize, of: T.self) { reversed in
      for group in 0..<geometry.groups {
        for output in 0..<outputs {
          for input in 0..<inputs {
            let source = weights + group * groupSize + (output * inputs + input) * taps
            let target = reversed + group * groupSize + (input * outputs + output) * taps
            for tap in 0..<taps { target[tap] = source[taps &- 1 &- tap] }
          }
        }
      }
      ConvolutionProduct<T>(geometry: mirrored, threads: threads).run(dy, reversed, bias, dx)
    }
  }

  /// With larger strides: blocks of the product of weights and `dy`, whose rows (channel, tap) are
  /// added to the positions they belong to.
  ///
  /// Blocks depend on sizes only, so every element is summed in the same order on any number of
  /// threads.
  private func runScattered(
    _ dy: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ dx: UnsafeMutablePointer<T>
  ) {
    let taps = window.tapCount
    let inputs = geometry.inputChannels
    guard inputs > 0 else { return }
    let channelCount = max(1, min(inputs, 256 / taps))
    let blocks = (inputs + channelCount - 1) / channelCount
    let columnCount = max(64, min(4096, 65_536 / (channelCount * taps)) & ~7)
    parallelLoop(geometry.batch * geometry.groups * blocks, threads: threads) { range in
      withThreadScratch(channelCount * taps * columnCount, of: T.self) { products in
        for index in range {
          let first = index % blocks * channelCount
          scatter(
            index / blocks, first..<min(inputs, first + channelCount), dy, weights, bias, dx,
            products, columnCount)
        }
      }
    }
  }

  /// - Parameters:
  ///   - index: image * groups + group.
  ///   - channels: the channels of the group to fill.
  private func scatter(
    _ index: Int, _ channels: Range<Int>, _ dy: UnsafePointer<T>, _ weights: UnsafePointer<T>,
    _ bias: UnsafePointer<T>?, _ dx: UnsafeMutablePointer<T>, _ products: UnsafeMutablePointer<T>,
    _ columnCount: Int
  ) {
    let taps = window.tapCount
    let (inputs, outputs) = (geometry.inputChannels, geometry.outputChannels)
    let group = index % geometry.groups
    let target = dx + (index * inputs + channels.lowerBound) * window.inputCount
    for channel in 0..<channels.count {
      (target + channel * window.inputCount).update(
        repeating: bias?[group * inputs + channels.lowerBound + channel] ?? 0,
        count: window.inputCount)
    }
    let left = weights + (group * outputs * inputs + channels.lowerBound) * taps
    let right = dy + index * outputs * window.outputCount
    for column in stride(from: 0, to: window.outputCount, by: columnCount) {
      let columns = min(columnCount, window.outputCount - column)
      let product = MatrixMultiplication<T>(
        rows: channels.count * taps, columns: columns, inner: outputs, transposedA: true,
        strideA: inputs * taps, strideC: columnCount)
      product.runPart(
        left, StoredPanels(start: right + column, stride: window.outputCount), products,
        rows: 0..<product.rows, columns: 0..<columns)
      for row in 0..<product.rows {
        addRow(
          products + row * columnCount, column..<column + columns, tap: row % taps,
          target + row / taps * window.inputCount)
      }
    }
  }

  /// Adds one tap's values for the windows `range` to the positions of one channel.
  private func addRow(
    _ values: UnsafePointer<T>, _ range: Range<Int>, tap: Int, _ target: UnsafeMutablePointer<T>
  ) {
    let stride = window.width.stride
    window.forEachRow(ofTap: tap) { output, count, input in
      let lower = max(output, range.lowerBound)
      let upper = min(output + count, range.upperBound)
      guard lower < upper else { return }
      let source = values + (lower - range.lowerBound)
      let position = target + (input + (lower - output) * stride)
      for i in 0..<upper &- lower { position[i &* stride] += source[i] }
    }
  }
}
