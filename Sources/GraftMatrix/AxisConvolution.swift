import CGraftMatrix
import GraftGraph
import GraftOperators
import GraftTensor

/// Conv over one axis without padding, with a bias, and Relu or Gelu behind it.
///
/// With the channels of a position side by side, a window is one run of numbers: the convolution is a
/// product of matrices, the rows of whose left one overlap. With three taps and a step of two, every
/// pair of rows shares a product.
struct AxisConvolution {
  private let source: ChannelsLast
  private let destination: ChannelsLast
  private let weights: PanelLayout
  /// Numbers from one window to the next.
  private let windowStep: Int
  private let hasBias: Bool
  private let activation: Activation?
  /// Pieces that the pairs of rows are shared out in; 0 when rows do not form pairs.
  private let pairParts: Int

  /// Numbers in a window and channels of the result from which on it pays to move the channels.
  private static let smallest = (window: 128, channels: 64)

  init(_ request: KernelRequest) throws {
    let (x, w) = (try request.shape(0), try request.shape(1))
    source = try ChannelsLast(x)
    let geometry = try ConvolutionGeometry(request.node, input: x, weights: w)
    destination = try ChannelsLast(geometry.outputShape)
    let axis = geometry.window.width
    guard geometry.groups == 1, axis.dilation == 1, axis.padBegin == 0, axis.padEnd <= 0 else {
      throw KernelDeclined("groups, dilation or padding")
    }
    let (channels, taps) = (geometry.inputChannels, axis.kernel)
    guard geometry.innerCount >= Self.smallest.window,
      geometry.outputChannels >= Self.smallest.channels, axis.output >= MatrixProduct.tile
    else { throw KernelDeclined("small") }
    var weights = PanelLayout(
      inner: geometry.innerCount, columns: geometry.outputChannels, rowStep: taps,
      columnStep: geometry.innerCount, period: (rows: channels, step: 1))
    weights.hasTapSums = taps == 3 && axis.stride == 2 && axis.output >= 2 * MatrixProduct.tile
    self.weights = weights
    let threads = min(request.threads, (axis.output + 1) / 2 / MatrixProduct.tile)
    pairParts = weights.hasTapSums ? threads * piecesPerThread(axis.output / 128, threads) : 0
    windowStep = axis.stride * channels
    hasBias = request.input(2) != nil
    activation = request.followers.first.flatMap { Activation($0.node) }
  }

  var kernel: PlannedKernel {
    var operands = [
      PlannedKernel.Operand(0, layout: source), PlannedKernel.Operand(1, layout: weights),
    ]
    if hasBias { operands.append(PlannedKernel.Operand(2)) }
    var kernel = PlannedKernel(
      name: "matrix avx2", operands: operands, outputLayouts: [destination], run: run)
    kernel.absorbedCount = activation == nil ? 0 : 1
    kernel.scratchByteCount = pairParts * scratchCount * MemoryLayout<Float>.stride
    return kernel
  }

  /// Numbers of scratch memory of each part.
  private var scratchCount: Int {
    Int(graft_matrix_pairs_scratch(Int64(source.channels), Int64(destination.channels)))
  }

  private func run(_ memory: KernelMemory) throws {
    var product = graft_matrix_product(
      left: try memory.input(0), leftSteps: (windowStep, 1), packed: try memory.input(1),
      inner: weights.panelRows, columns: weights.columns, result: try memory.output(0),
      resultStep: weights.columns)
    if hasBias { product.bias = try memory.input(2) }
    activation?.apply(to: &product)
    for _ in 0..<source.batch {
      if pairParts > 0 {
        try fillPairs(product, memory)
      } else {
        product.fill(rows: destination.length, panels: weights.panelCount, threads: memory.threads)
      }
      product.left += source.channels * source.length
      product.result += destination.channels * destination.length
    }
  }

  private func fillPairs(_ product: graft_matrix_product, _ memory: KernelMemory) throws {
    let scratch = try memory.floats(memory.scratch)
    let pairs = (destination.length + 1) / 2
    parallelLoop(pairParts, threads: memory.threads, pieces: pairParts) { range in
      for part in range {
        withUnsafePointer(to: product) {
          graft_matrix_convolve_pairs(
            $0, Int64(source.channels), Int64(destination.length),
            Int64(pairs * part / pairParts), Int64(pairs * (part + 1) / pairParts),
            scratch + part * scratchCount)
        }
      }
    }
  }
}
