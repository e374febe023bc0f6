import GraftGraph
import GraftTensor

/// Resampling along one axis: y = the table's map of x, for every line along the axis.
struct AxisResampling {
  private let table: SamplingTable
  private let outer: Int
  private let input: Int
  private let output: Int
  /// Elements between neighbours along the axis.
  private let inner: Int
  /// What positions outside the source get.
  private let fill: Float

  /// - Parameter shape: the shape before; the axis has its input size.
  init(_ axis: ResizeGeometry.Axis, _ settings: ResizeSettings, _ shape: Shape) {
    table = SamplingTable(axis, settings)
    outer = shape.elementCount(in: 0..<axis.index)
    input = axis.input
    output = axis.output
    inner = shape.elementCount(in: axis.index + 1..<shape.rank)
    fill = settings.extrapolationValue
  }

  /// Copies the one element that each position reads.
  func gather<T: NumericElement>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    let fill = T(saturating: Double(fill))
    context.parallel(outer * output, cost: inner) { range in
      for row in range {
        let position = row % output
        let target = y + row * inner
        if table.isOutside[position] {
          target.update(repeating: fill, count: inner)
        } else {
          let source = x + (row / output * input + table.indices[position]) * inner
          if inner == 1 {
            target.pointee = source.pointee
          } else {
            target.update(from: source, count: inner)
          }
        }
      }
    }
  }

  /// Forms the weighted sums.
  func run<T: FloatingElement>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    if inner == 1 { return runAlongLines(context, from: x, to: y) }
    let taps = table.taps
    let weights = table.weights.map { T($0) }
    let fill = T(fill)
    let indices = table.indices
    context.parallel(outer * output, cost: inner * taps) { range in
      for row in range {
        let position = row % output
        let target = y + row * inner
        let source = x + row / output * input * inner
        if table.isOutside[position] {
          target.update(repeating: fill, count: inner)
          continue
        }
        let first = position * taps
        Self.scale(weights[first], source + indices[first] * inner, into: target, inner)
        for tap in first + 1..<first + taps where weights[tap] != 0 {
          Self.add(weights[tap], source + indices[tap] * inner, to: target, inner)
        }
      }
    }
  }

  /// The same along the last axis: whole stretches of a line at a time.
  private func runAlongLines<T: FloatingElement>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    let taps = table.taps
    table.weights.map { T($0) }.withUnsafeBufferPointer { weights in
      table.indices.withUnsafeBufferPointer { indices in
        context.parallel(outer * output, cost: taps) { range in
          var start = range.lowerBound
          while start < range.upperBound {
            let line = start / output
            let end = min(range.upperBound, (line + 1) * output)
            let source = x + line * input
            let target = y + line * output
            for position in start - line * output..<end - line * output {
              let first = position * taps
              var sum: T = 0
              for tap in first..<first + taps { sum += weights[tap] * source[indices[tap]] }
              target[position] = sum
            }
            start = end
          }
        }
      }
    }
    let outside = (0..<output).filter { table.isOutside[$0] }
    for line in 0..<(outside.isEmpty ? 0 : outer) {
      for position in outside { y[line * output + position] = T(fill) }
    }
  }

  /// The transposed map: every element of dx collects what the positions that read it have.
  func runTransposed<T: FloatingElement>(
    _ context: KernelContext, from dy: UnsafePointer<T>, to dx: UnsafeMutablePointer<T>
  ) {
    let taps = table.taps
    let weights = table.weights.map { T($0) }
    let indices = table.indices
    // Threads share out lines, never the positions of a line, which meet in dx.
    let width = 256
    let pieces = (inner + width - 1) / width
    context.parallel(outer * pieces, cost: output * taps * min(width, inner)) { range in
      for index in range {
        let start = index % pieces * width
        let count = min(width, inner - start)
        let source = dy + index / pieces * output * inner + start
        let target = dx + index / pieces * input * inner + start
        for element in 0..<input { (target + element * inner).update(repeating: 0, count: count) }
        for position in 0..<output {
          for tap in position * taps..<(position + 1) * taps where weights[tap] != 0 {
            Self.add(
              weights[tap], source + position * inner, to: target + indices[tap] * inner, count)
          }
        }
      }
    }
  }

  @inline(__always)
  private static func scale<T: FloatingElement>(
    _ factor: T, _ x: UnsafePointer<T>, into y: UnsafeMutablePointer<T>, _ count: Int
  ) {
    for i in 0..<count { y[i] = factor * x[i] }
  }

  @inline(__always)
  private static func add<T: FloatingElement>(
    _ factor: T, _ x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>, _ count: Int
  ) {
    for i in 0..<count { y[i] += factor * x[i] }
  }
}
