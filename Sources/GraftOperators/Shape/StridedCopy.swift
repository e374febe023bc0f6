import GraftGraph
import GraftTensor

/// Fills an output in row-major order with elements of an input that lie at other strides: the
/// kernel under Transpose, Expand, Slice, Tile and DepthToSpace.
struct StridedCopy {
  private let rows: StridedRows
  /// The better way through the elements, where there is one.
  private let transposition: BlockedTransposition?

  /// - Parameters:
  ///   - shape: the output's shape.
  ///   - strides: elements between neighbours in the input, for each output axis.
  ///   - start: the input's element at the output's first position.
  init(_ shape: Shape, _ strides: [Int], start: Int = 0) {
    rows = StridedRows(shape, strides, start: start)
    transposition = BlockedTransposition(rows)
  }

  @inline(__always)
  func run<T>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    if let transposition {
      transposition.run(context, from: x, to: y)
      return
    }
    rows.run(context) { output, start, step, count in
      let y = y + output
      let x = x + start
      switch step {
      case 1 where count > 16: y.update(from: x, count: count)
      case 1: for i in 0..<count { y[i] = x[i] }
      case 0: y.update(repeating: x[0], count: count)
      default: for i in 0..<count { y[i] = x[i &* step] }
      }
    }
  }
}
