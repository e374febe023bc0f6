import GraftTensor

/// A product of very few rows with a matrix stored [inner, columns], which streams past once and is
/// not packed.
///
/// Sums in the order of the inner index as `MatrixMultiplication` does: both give the same bits.
struct RowProduct<T: FloatingElement> {
  /// From this many rows on packing pays.
  static var rowLimit: Int { 3 }

  private let product: MatrixMultiplication<T>
  private let strideA: Int
  private let strideB: Int
  private let strideC: Int

  init(_ product: MatrixMultiplication<T>, strideA: Int, strideB: Int, strideC: Int) {
    self.product = product
    self.strideA = strideA
    self.strideB = strideB
    self.strideC = strideC
  }

  func run(
    _ a: UnsafePointer<T>, _ b: UnsafePointer<T>, _ c: UnsafeMutablePointer<T>, threads: Int
  ) {
    let minimum = 65_536 / max(1, product.inner) + 64
    parallelLoop(product.columns, threads: threads, minimum: minimum) { columns in
      for row in 0..<product.rows {
        addRow(
          a + row * strideA, b + columns.lowerBound, c + row * strideC + columns.lowerBound,
          columns.count)
      }
    }
  }

  private func addRow(
    _ a: UnsafePointer<T>, _ b: UnsafePointer<T>, _ c: UnsafeMutablePointer<T>, _ count: Int
  ) {
    if !product.accumulates { c.update(repeating: 0, count: count) }
    var k = 0
    while k &+ 4 <= product.inner {
      let (a0, a1, a2, a3) = (a[k], a[k &+ 1], a[k &+ 2], a[k &+ 3])
      let b0 = b + k * strideB
      let b1 = b0 + strideB
      let b2 = b1 + strideB
      let b3 = b2 + strideB
      for j in 0..<count {
        c[j] = (((c[j] + a0 * b0[j]) + a1 * b1[j]) + a2 * b2[j]) + a3 * b3[j]
      }
      k &+= 4
    }
    while k < product.inner {
      let b0 = b + k * strideB
      let a0 = a[k]
      for j in 0..<count { c[j] += a0 * b0[j] }
      k &+= 1
    }
  }
}
