import GraftGraph
import GraftTensor

/// Walks over an output in row-major order while reading an input with other strides, row by row.
///
/// Strides may be 0 (repeated elements) or negative (reversed order).
struct StridedRows {
  /// Axes that are walked in step are merged; outermost first, never empty.
  private(set) var axes: [(size: Int, stride: Int)] = []
  /// All but the two innermost axes.
  private let outer: [(size: Int, stride: Int)]
  /// The input's element at the output's first position.
  let start: Int
  let isEmpty: Bool

  /// - Parameters:
  ///   - shape: the output's shape.
  ///   - strides: elements between neighbours in the input, for each output axis.
  ///   - start: the input's element at the output's first position.
  init(_ shape: Shape, _ strides: [Int], start: Int = 0) {
    self.start = start
    isEmpty = shape.contains(0)
    for (size, stride) in zip(shape, strides) where size != 1 && !isEmpty {
      if let last = axes.last, last.stride == stride &* size {
        axes[axes.count - 1] = (last.size * size, stride)
      } else {
        axes.append((size, stride))
      }
    }
    if axes.isEmpty { axes = [(1, 0)] }
    outer = Array(axes.dropLast(2))
  }

  /// Calls `row` with the start in the output, the start and step in the input and the length.
  /// Long rows come in pieces, one for each thread.
  @inline(__always)
  func run(_ context: KernelContext, _ row: (Int, Int, Int, Int) -> Void) {
    guard !isEmpty, let inner = axes.last else { return }
    let middle = axes.dropLast().last ?? (size: 1, stride: 0)
    let total = axes.reduce(1) { $0 * $1.size }
    context.parallel(total) { range in
      var position = range.lowerBound
      while position < range.upperBound {
        // The start of a plane is found by division; its rows follow at a fixed stride.
        let index = position / inner.size
        var column = position - index * inner.size
        var line = index % middle.size
        var rest = index / middle.size
        var plane = start
        for axis in outer.reversed() {
          plane += rest % axis.size * axis.stride
          rest /= axis.size
        }
        while line < middle.size && position < range.upperBound {
          let count = min(inner.size - column, range.upperBound - position)
          let input = plane + line * middle.stride + column * inner.stride
          row(position, input, inner.stride, count)
          position += count
          column = 0
          line += 1
        }
      }
    }
  }
}
