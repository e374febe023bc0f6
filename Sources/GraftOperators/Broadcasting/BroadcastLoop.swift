import GraftGraph
import GraftTensor

/// Walks over an output in row-major order together with up to four operands that broadcast to it,
/// row by row: axes that all operands walk in step are merged, the innermost is the row.
struct BroadcastLoop {
  /// Merged axes, outermost first: size and the operands' strides.
  private var axes: [(size: Int, strides: SIMD4<Int>)] = []
  private let elementCount: Int

  /// - Parameters:
  ///   - operands: shapes, four at most, that broadcast to `output`.
  init(_ operands: [Shape], to output: Shape) {
    elementCount = output.elementCount
    let operandStrides = operands.map { $0.broadcastStrides(to: output) }
    for (index, size) in output.enumerated() where size != 1 {
      var strides = SIMD4<Int>.zero
      for (lane, operand) in operandStrides.prefix(4).enumerated() {
        strides[lane] = operand[index]
      }
      if let last = axes.last, last.strides == strides &* size {
        axes[axes.count - 1] = (last.size * size, strides)
      } else {
        axes.append((size, strides))
      }
    }
    if axes.isEmpty { axes = [(1, .zero)] }
  }

  /// Calls `row` with the start in the output, each operand's start and step (0 or 1) and the
  /// length, on the kernel's threads.
  ///
  /// - Parameter cost: a rough number of simple steps for an element.
  func run(
    _ context: KernelContext, cost: Int = 1, _ row: (Int, SIMD4<Int>, SIMD4<Int>, Int) -> Void
  ) {
    context.parallel(elementCount, cost: cost) { rows($0, row) }
  }

  /// Calls `row` for the rows, and parts of rows, in a range of the output's elements.
  func rows(_ range: Range<Int>, _ row: (Int, SIMD4<Int>, SIMD4<Int>, Int) -> Void) {
    guard let inner = axes.last else { return }
    var position = range.lowerBound
    while position < range.upperBound {
      let (rowIndex, column) = position.quotientAndRemainder(dividingBy: inner.size)
      let count = min(inner.size - column, range.upperBound - position)
      row(position, starts(ofRow: rowIndex) &+ inner.strides &* column, inner.strides, count)
      position += count
    }
  }

  /// Where the operands stand at the start of a row.
  private func starts(ofRow row: Int) -> SIMD4<Int> {
    var rest = row
    var starts = SIMD4<Int>.zero
    for axis in axes.dropLast().reversed() {
      let (quotient, position) = rest.quotientAndRemainder(dividingBy: axis.size)
      starts &+= axis.strides &* position
      rest = quotient
    }
    return starts
  }

  /// Fills the output with a function of two operands.
  @inline(__always)
  func map<F: PairFunction>(
    _ context: KernelContext, _ a: UnsafePointer<F.First>, _ b: UnsafePointer<F.Second>,
    to y: UnsafeMutablePointer<F.Result>, cost: Int = 1, _ function: F
  ) {
    run(context, cost: cost) { output, starts, steps, count in
      let y = y + output
      let a = a + starts[0]
      let b = b + starts[1]
      switch (steps[0], steps[1]) {
      case (1, 1): for i in 0..<count { y[i] = function(a[i], b[i]) }
      case (1, _):
        let b = b[0]
        for i in 0..<count { y[i] = function(a[i], b) }
      case (_, 1):
        let a = a[0]
        for i in 0..<count { y[i] = function(a, b[i]) }
      default: y.update(repeating: function(a[0], b[0]), count: count)
      }
    }
  }
}
