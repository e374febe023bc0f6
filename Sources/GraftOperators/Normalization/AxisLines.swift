import GraftGraph
import GraftTensor

/// The lines of a tensor along one axis.
struct AxisLines {
  private let outer: Int
  private let count: Int
  private let inner: Int

  /// - Parameter axis: a valid axis, possibly negative.
  init(_ shape: Shape, axis: Int) {
    let axis = axis < 0 ? axis + shape.rank : axis
    outer = shape.elementCount(in: 0..<axis)
    count = shape[axis]
    inner = shape.elementCount(in: axis + 1..<shape.rank)
  }

  /// Calls `line` with each line's first element, the step to the next and the length.
  func run(_ context: KernelContext, cost: Int, _ line: (Int, Int, Int) -> Void) {
    context.parallel(outer * inner, cost: cost * count) { range in
      for index in range {
        line(index / inner * inner * count + index % inner, inner, count)
      }
    }
  }
}
