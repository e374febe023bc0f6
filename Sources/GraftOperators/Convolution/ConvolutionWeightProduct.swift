import GraftTensor

/// The gradient of a convolution's weights as products of matrices, one for each group: the outputs'
/// gradients times the transposed patches, summed over the images in their order.
struct ConvolutionWeightProduct<T: FloatingElement> {
  let geometry: ConvolutionGeometry
  let threads: Int

  /// - Parameters:
  ///   - dy: [batch, groups * output channels, windows].
  ///   - x: [batch, groups * input channels, positions].
  ///   - dw: [groups * output channels, input channels, taps].
  func run(_ dy: UnsafePointer<T>, _ x: UnsafePointer<T>, _ dw: UnsafeMutablePointer<T>) {
    let window = geometry.window
    if window.isPointwise {
      run(dy, x, dw) { StoredPanels(start: $0, stride: window.inputCount, isTransposed: true) }
    } else {
      run(dy, x, dw) { TransposedPatchPanels(image: $0, window: window) }
    }
  }

  private func run<Source: PanelSource>(
    _ dy: UnsafePointer<T>, _ x: UnsafePointer<T>, _ dw: UnsafeMutablePointer<T>,
    _ source: (UnsafePointer<T>) -> Source
  ) where Source.Element == T {
    let channels = geometry.outputChannels
    let positions = geometry.window.outputCount
    let groupSize = geometry.inputChannels * geometry.window.inputCount
    let product = MatrixMultiplication<T>(
      rows: channels, columns: geometry.innerCount, inner: positions, accumulates: true)
    let weightCount = channels * geometry.innerCount
    let parts = ProductParts(
      count: geometry.groups, rows: channels, columns: geometry.innerCount,
      inner: geometry.batch * positions, threads: threads)
    parts.run { group, rows, columns in
      let target = dw + group * weightCount
      for row in rows {
        (target + row * geometry.innerCount + columns.lowerBound).update(
          repeating: 0, count: columns.count)
      }
      for image in 0..<geometry.batch {
        let index = image * geometry.groups + group
        product.runPart(
          dy + index * channels * positions, source(x + index * groupSize), target, rows: rows,
          columns: columns)
      }
    }
  }
}
