import GraftTensor

/// The input of a convolution as the right matrix of its weight gradient: row output position,
/// column (channel, tap); packed from the image, never stored as a whole.
struct TransposedPatchPanels<T: FloatingElement>: PanelSource {
  /// The first channel of the group in one image.
  let image: UnsafePointer<T>
  let window: SlidingWindow

  func panels(
    _ inner: Range<Int>, _ columns: Range<Int>, _ scratch: UnsafeMutablePointer<T>
  ) -> MatrixPanels<T> {
    let width = MatrixPanels<T>.width
    var target = scratch
    for column in stride(from: columns.lowerBound, to: columns.upperBound, by: width) {
      for x in 0..<width {
        if column + x < columns.upperBound {
          pack(column + x, inner, target + x)
        } else {
          for p in 0..<inner.count { target[p &* width &+ x] = 0 }
        }
      }
      target += inner.count * width
    }
    return MatrixPanels(start: scratch, stride: inner.count * width)
  }

  /// One column of a panel: what one tap sees of one channel at the output positions `range`.
  private func pack(_ column: Int, _ range: Range<Int>, _ target: UnsafeMutablePointer<T>) {
    let (depth, height, width) = (window.depth, window.height, window.width)
    let tap = column % window.tapCount
    let channel = image + column / window.tapCount * window.inputCount
    let kx = tap % width.kernel
    let ky = tap / width.kernel % height.kernel
    let kz = tap / (width.kernel * height.kernel)
    let inside = width.outputs(inside: kx)
    let step = MatrixPanels<T>.width
    var position = range.lowerBound
    while position < range.upperBound {
      let row = position / width.output
      let first = position - row * width.output
      let end = min(width.output, first + range.upperBound - position)
      let z = depth.start(row / height.output) + kz * depth.dilation
      let y = height.start(row % height.output) + ky * height.dilation
      let isInside = z >= 0 && z < depth.input && y >= 0 && y < height.input
      let lower = isInside ? min(max(inside.lowerBound, first), end) : end
      let upper = max(lower, min(inside.upperBound, end))
      // The line's element for output position `x` of the row stands at `x - first`.
      let line = target + (position - range.lowerBound) * step
      for x in first..<lower { line[(x &- first) &* step] = 0 }
      if lower < upper {
        let start = (z * height.input + y) * width.input + width.start(lower)
        var source = channel + (start + kx * width.dilation)
        for x in lower..<upper {
          line[(x &- first) &* step] = source.pointee
          source += width.stride
        }
      }
      for x in upper..<end { line[(x &- first) &* step] = 0 }
      position += end - first
    }
  }
}
