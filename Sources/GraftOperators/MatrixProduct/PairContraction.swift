import GraftGraph
import GraftTensor

/// The product of two factors of an Einsum, summed over the labels that nobody needs any more: a
/// batch of matrix products.
struct PairContraction<T: FloatingElement> {
  typealias Label = EinsumAxes.Label

  private let axes: EinsumAxes
  /// Labels of both factors that stay.
  private let batch: [Label]
  /// Labels of both factors that are summed over.
  private let inner: [Label]
  /// Labels of the left factor alone.
  private let rows: [Label]
  /// Labels of the right factor alone.
  private let columns: [Label]

  /// - Parameters:
  ///   - kept: labels that the output or later factors need; all labels of one factor alone are
  ///     among them.
  ///   - order: the order that batch labels should have where they are in it.
  init(
    _ left: LabelledTensor<T>, _ right: LabelledTensor<T>, kept: Set<Label>, order: [Label],
    _ axes: EinsumAxes
  ) {
    self.axes = axes
    let shared = left.labels.filter { right.labels.contains($0) }
    let staying = Set(shared.filter { kept.contains($0) })
    let first = order.filter { staying.contains($0) }
    batch = first + shared.filter { staying.contains($0) && !first.contains($0) }
    inner = shared.filter { !kept.contains($0) }
    rows = left.labels.filter { !shared.contains($0) }
    columns = right.labels.filter { !shared.contains($0) }
  }

  /// The labels of the result.
  var labels: [Label] { batch + rows + columns }

  /// A factor as a batch of matrices.
  private struct Matrices {
    let factor: LabelledTensor<T>
    /// The matrix lies with its axes exchanged.
    let isTransposed: Bool
    /// Elements between stored rows.
    let stride: Int

    /// Copies the factor unless its numbers lie as the matrix product can read them.
    init(
      _ factor: LabelledTensor<T>, _ batch: [Label], _ rows: [Label], _ columns: [Label],
      _ axes: EinsumAxes, _ context: KernelContext
    ) throws {
      let height = axes.shape(rows).elementCount
      let width = axes.shape(columns).elementCount
      if let down = factor.commonStride(rows, axes), let right = factor.commonStride(columns, axes)
      {
        if right == 1 || width == 1 {
          self.init(factor, isTransposed: false, stride: max(1, height == 1 ? width : down))
          return
        }
        if down == 1 || height == 1 {
          self.init(factor, isTransposed: true, stride: right)
          return
        }
      }
      let copy = try factor.arranged(batch + rows + columns, axes, context)
      self.init(copy, isTransposed: false, stride: max(1, width))
    }

    private init(_ factor: LabelledTensor<T>, isTransposed: Bool, stride: Int) {
      self.factor = factor
      self.isTransposed = isTransposed
      self.stride = stride
    }
  }

  /// Fills `y` in row-major order of `labels`.
  func run(
    _ left: LabelledTensor<T>, _ right: LabelledTensor<T>, to y: UnsafeMutablePointer<T>,
    _ context: KernelContext
  ) throws {
    guard axes.shape(labels).elementCount > 0 else { return }
    let a = try Matrices(left, batch, rows, inner, axes, context)
    let b = try Matrices(right, batch, inner, columns, axes, context)
    var product = MatrixMultiplication<T>(
      rows: axes.shape(rows).elementCount, columns: axes.shape(columns).elementCount,
      inner: axes.shape(inner).elementCount)
    (product.transposedA, product.strideA) = (a.isTransposed, a.stride)
    (product.transposedB, product.strideB) = (b.isTransposed, b.stride)
    withExtendedLifetime((a, b)) { run(product, a, b, to: y, context) }
  }

  private func run(
    _ product: MatrixMultiplication<T>, _ a: Matrices, _ b: Matrices,
    to y: UnsafeMutablePointer<T>, _ context: KernelContext
  ) {
    let work = product.rows &* product.columns &* max(1, product.inner)
    let (elementsA, elementsB) = (a.factor.elements, b.factor.elements)
    if work <= Self.smallProduct {
      let small = SmallProduct(product)
      forEachRun(a, b, context, cost: work) { run in
        small.run(
          elementsA + run.a, run.stepA, elementsB + run.b, run.stepB,
          y + run.index * small.elementCount, count: run.count)
      }
      return
    }
    let single = KernelContext(node: context.node, inputs: [], outputs: [], threads: 1)
    let sharesBatch = axes.shape(batch).elementCount >= context.threads
    forEachRun(a, b, sharesBatch ? context : single, cost: work) { run in
      for step in 0..<run.count {
        product.run(
          elementsA + run.a + step * run.stepA, elementsB + run.b + step * run.stepB,
          y + (run.index + step) * product.rows * product.columns,
          threads: sharesBatch ? 1 : context.threads)
      }
    }
  }

  /// Up to so many multiplications, packing costs more than it saves.
  private static var smallProduct: Int { 512 }

  /// Matrices that lie at equal distances in both factors.
  private struct Run {
    /// The number of the first one in the batch.
    let index: Int
    let count: Int
    /// The first elements in both factors.
    let a: Int
    let b: Int
    /// Elements from one matrix to the next.
    let stepA: Int
    let stepB: Int
  }

  /// Calls `body` until all matrices of the batch are covered.
  @inline(__always)
  private func forEachRun(
    _ a: Matrices, _ b: Matrices, _ context: KernelContext, cost: Int, _ body: (Run) -> Void
  ) {
    let last = batch.last.map { (axes.size($0), a.factor.stride($0), b.factor.stride($0)) }
    let (length, stepA, stepB) = last ?? (1, 0, 0)
    let outer = batch.dropLast().map { (axes.size($0), a.factor.stride($0), b.factor.stride($0)) }
    let count = axes.shape(batch).elementCount
    context.parallel(count, cost: cost) { range in
      var index = range.lowerBound
      while index < range.upperBound {
        var rest = index / length
        var (from, with) = (0, 0)
        for (size, strideA, strideB) in outer.reversed() {
          from += rest % size * strideA
          with += rest % size * strideB
          rest /= size
        }
        let first = index % length
        let count = min(length - first, range.upperBound - index)
        body(
          Run(
            index: index, count: count, a: from + first * stepA, b: with + first * stepB,
            stepA: stepA, stepB: stepB))
        index += count
      }
    }
  }
}

/// A product of matrices so small that plain loops are fastest.
private struct SmallProduct<T: FloatingElement> {
  private let rows: Int
  private let columns: Int
  private let inner: Int
  private let stepA: (row: Int, inner: Int)
  private let stepB: (inner: Int, column: Int)

  init(_ product: MatrixMultiplication<T>) {
    (rows, columns, inner) = (product.rows, product.columns, product.inner)
    stepA = product.transposedA ? (1, product.strideA) : (product.strideA, 1)
    stepB = product.transposedB ? (1, product.strideB) : (product.strideB, 1)
  }

  /// Elements of the result.
  var elementCount: Int { rows * columns }

  /// Multiplies `count` pairs of matrices at given distances.
  @inline(__always)
  func run(
    _ a: UnsafePointer<T>, _ nextA: Int, _ b: UnsafePointer<T>, _ nextB: Int,
    _ c: UnsafeMutablePointer<T>, count: Int
  ) {
    if inner == 1, elementCount == 1 {
      multiply(a, nextA, b, nextB, c, count: count)
      return
    }
    for index in 0..<count {
      run(a + index * nextA, b + index * nextB, c + index * elementCount)
    }
  }

  /// The products of single numbers.
  @inline(__always)
  private func multiply(
    _ a: UnsafePointer<T>, _ nextA: Int, _ b: UnsafePointer<T>, _ nextB: Int,
    _ c: UnsafeMutablePointer<T>, count: Int
  ) {
    if nextA == 1, nextB == 1 {
      for i in 0..<count { c[i] = a[i] * b[i] }
    } else {
      for i in 0..<count { c[i] = a[i &* nextA] * b[i &* nextB] }
    }
  }

  @inline(__always)
  private func run(_ a: UnsafePointer<T>, _ b: UnsafePointer<T>, _ c: UnsafeMutablePointer<T>) {
    for row in 0..<rows {
      for column in 0..<columns {
        var sum: T = 0
        for k in 0..<inner {
          sum +=
            a[row &* stepA.row &+ k &* stepA.inner] * b[k &* stepB.inner &+ column &* stepB.column]
        }
        c[row * columns + column] = sum
      }
    }
  }
}
