import GraftGraph
import GraftTensor

/// A tensor seen as [outer, size, inner] around one axis. A column is what lies along that axis at
/// one place of the others.
struct AxisColumns {
  let outer: Int
  let size: Int
  let inner: Int

  /// - Parameter axis: an axis of the shape; a negative one counts from the end.
  init(_ shape: Shape, axis: Int) throws {
    let axis = try shape.axis(axis)
    outer = shape.elementCount(in: 0..<axis)
    size = shape[axis]
    inner = shape.elementCount(in: axis + 1..<shape.rank)
  }

  /// Calls `body` with an outer index and a range of inner ones, until every column is covered
  /// once. A column is never shared between threads.
  @inline(__always)
  func run(_ context: KernelContext, cost: Int = 1, _ body: (Int, Range<Int>) -> Void) {
    context.parallel(outer &* inner, cost: cost &* size) { range in
      var column = range.lowerBound
      while column < range.upperBound {
        let first = column % inner
        let end = min(inner, first + range.upperBound - column)
        body(column / inner, first..<end)
        column += end - first
      }
    }
  }
}
