import GraftGraph
import GraftTensor

/// The sums over the axes along which a smaller shape broadcasts to a larger one.
struct BroadcastSum {
  /// Neighbouring axes of one kind are merged, outermost first.
  private var kept: [Axis] = []
  private var summed: [Axis] = []
  /// The last axis, which is in neither list.
  private var inner = Axis(size: 1, stride: 1)
  private var keepsInner = true
  private let elementCount: Int

  private struct Axis {
    var size: Int
    var stride: Int
  }

  /// - Parameter result: a shape that broadcasts to `shape`.
  init(_ shape: Shape, to result: Shape) {
    elementCount = result.elementCount
    let strides = shape.strides
    let offset = shape.rank - result.rank
    var axes: [(axis: Axis, isKept: Bool)] = []
    for (index, size) in shape.enumerated() where size != 1 {
      let isKept = index >= offset && result[index - offset] != 1
      let axis = Axis(size: size, stride: strides[index])
      if let last = axes.last, last.isKept == isKept {
        axes[axes.count - 1].axis = Axis(size: last.axis.size * size, stride: axis.stride)
      } else {
        axes.append((axis, isKept))
      }
    }
    if let last = axes.popLast() { (inner, keepsInner) = last }
    kept = axes.filter(\.isKept).map(\.axis)
    summed = axes.filter { !$0.isKept }.map(\.axis)
  }

  func run<T: FloatingElement>(
    _ context: KernelContext, _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>
  ) {
    let terms = summed.reduce(1) { $0 * $1.size }
    if keepsInner {
      context.parallel(elementCount, cost: terms) { addRows(x, y, $0, terms) }
    } else {
      context.parallel(elementCount, cost: terms * inner.size) { range in
        for index in range {
          let x = x + Self.position(index, kept)
          var sum: T = 0
          for term in 0..<terms {
            sum += Self.rowSum(x + Self.position(term, summed), inner.size)
          }
          y[index] = sum
        }
      }
    }
  }

  /// Sums where the last axis is kept: whole pieces of rows are added up.
  private func addRows<T: FloatingElement>(
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>, _ range: Range<Int>, _ terms: Int
  ) {
    // Pieces that stay in the first-level cache while terms are added.
    let longest = 2048
    var start = range.lowerBound
    while start < range.upperBound {
      let (row, column) = start.quotientAndRemainder(dividingBy: inner.size)
      let count = min(longest, inner.size - column, range.upperBound - start)
      let source = x + Self.position(row, kept) + column
      let sum = y + start
      sum.update(repeating: 0, count: count)
      for term in 0..<terms {
        let source = source + Self.position(term, summed)
        for i in 0..<count { sum[i] += source[i] }
      }
      start += count
    }
  }

  /// The element that `index` means when it counts through the axes in row-major order.
  @inline(__always)
  private static func position(_ index: Int, _ axes: [Axis]) -> Int {
    var rest = index
    var position = 0
    for axis in axes.reversed() {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: axis.size)
      position += remainder * axis.stride
      rest = quotient
    }
    return position
  }

  /// The sum of neighbours, in eight parts.
  @inline(__always)
  private static func rowSum<T: FloatingElement>(_ x: UnsafePointer<T>, _ count: Int) -> T {
    var parts = SIMD8<T>.zero
    var i = 0
    while i + 8 <= count {
      parts += UnsafeRawPointer(x + i).loadUnaligned(as: SIMD8<T>.self)
      i += 8
    }
    var sum = parts.sum()
    while i < count {
      sum += x[i]
      i += 1
    }
    return sum
  }
}
