import GraftGraph

/// Copies rows of equal length between two matrices with different distances between rows.
struct RowCopy {
  let rows: Int
  /// Elements in one row.
  let length: Int
  /// Elements from one row to the next where they are read.
  let sourceStride: Int
  /// Elements from one row to the next where they are written.
  let targetStride: Int

  @inline(__always)
  func run<T>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    guard length > 0 else { return }
    context.parallel(rows * length) { range in
      var position = range.lowerBound
      while position < range.upperBound {
        let row = position / length
        let first = position - row * length
        let count = min(length - first, range.upperBound - position)
        let target = y + row * targetStride + first
        target.update(from: x + row * sourceStride + first, count: count)
        position += count
      }
    }
  }
}
