import GraftGraph
import GraftTensor

/// C = op(A) op(B), or C + op(A) op(B), for one pair of matrices: the kernel under every matrix
/// product, convolution and recurrence.
///
/// Blocked and packed after Goto and van de Geijn (Anatomy of High-Performance Matrix
/// Multiplication, 2008), in a variant for 16 vector registers of 16 bytes without fused
/// multiply-add: tiles of C of 4 rows and 2 vectors stay in registers while panels of A, every
/// element repeated over a whole vector, and of B stream past.
///
/// Every element is summed in the order of the inner index, one product after the other, so a row's
/// result depends on nothing but that row and B: not on how many rows there are, nor on threads.
struct MatrixMultiplication<T: FloatingElement> {
  /// Rows of op(A) and C.
  let rows: Int
  /// Columns of op(B) and C.
  let columns: Int
  /// Columns of op(A), rows of op(B).
  let inner: Int
  /// A is stored as [inner, rows] when transposed, else as [rows, inner].
  var transposedA = false
  /// B is stored as [columns, inner] when transposed, else as [inner, columns].
  var transposedB = false
  /// Elements from one stored row of A to the next; 0 for densely stored rows.
  var strideA = 0
  var strideB = 0
  var strideC = 0
  /// Adds to C instead of replacing it.
  var accumulates = false

  func run(
    _ a: UnsafePointer<T>, _ b: UnsafePointer<T>, _ c: UnsafeMutablePointer<T>, threads: Int
  ) {
    if columns == 1, rows > 1, storedC == 1 {
      // A column is a row of the transposed product, in which vectors are full.
      swapped.run(b, a, c, threads: threads)
      return
    }
    let rowsAreStored = !transposedA || (rows == 1 && storedA == 1)
    if rows < RowProduct<T>.rowLimit, rowsAreStored, !transposedB {
      RowProduct(self, strideA: storedA, strideB: storedB, strideC: storedC)
        .run(a, b, c, threads: threads)
      return
    }
    let source = StoredPanels(start: b, stride: storedB, isTransposed: transposedB)
    run(a, source, c, threads: threads)
  }

  /// The same with B given by what packs it.
  func run<Source: PanelSource>(
    _ a: UnsafePointer<T>, _ b: Source, _ c: UnsafeMutablePointer<T>, threads: Int
  ) where Source.Element == T {
    let threads = isSmall ? 1 : threads
    // Rows or columns are shared out, whichever gives the more even parts.
    if columns >= rows * 2 {
      let width = MatrixPanels<T>.width
      parallelLoop((columns + width - 1) / width, threads: threads) { range in
        let part = range.lowerBound * width..<min(columns, range.upperBound * width)
        runPart(a, b, c, rows: 0..<rows, columns: part)
      }
    } else {
      let height = MatrixPanels<T>.height
      parallelLoop((rows + height - 1) / height, threads: threads) { range in
        let part = range.lowerBound * height..<min(rows, range.upperBound * height)
        runPart(a, b, c, rows: part, columns: 0..<columns)
      }
    }
  }

  /// One rectangle of C, on the calling thread.
  func runPart<Source: PanelSource>(
    _ a: UnsafePointer<T>, _ b: Source, _ c: UnsafeMutablePointer<T>, rows rowRange: Range<Int>,
    columns columnRange: Range<Int>
  ) where Source.Element == T {
    guard !rowRange.isEmpty, !columnRange.isEmpty else { return }
    if !accumulates {
      for row in rowRange {
        (c + row * storedC + columnRange.lowerBound).update(
          repeating: 0, count: columnRange.count)
      }
    }
    guard inner > 0 else { return }
    if T.self == Float.self {
      runBlocks(a, b, c, rowRange, columnRange, SIMD4<Float>.self)
    } else {
      runBlocks(a, b, c, rowRange, columnRange, SIMD2<Double>.self)
    }
  }

  /// Whether threads would cost more than they save.
  private var isSmall: Bool { Double(rows) * Double(columns) * Double(inner) < 65_536 }

  private var swapped: MatrixMultiplication {
    MatrixMultiplication(
      rows: columns, columns: rows, inner: inner, transposedA: !transposedB,
      transposedB: !transposedA, strideA: storedB, strideB: storedA, accumulates: accumulates)
  }

  private var storedA: Int { strideA > 0 ? strideA : transposedA ? rows : inner }
  private var storedB: Int { strideB > 0 ? strideB : transposedB ? inner : columns }
  private var storedC: Int { strideC > 0 ? strideC : columns }

  /// Rows of B in one block. Such a panel of A with repeated elements takes 16 KB and stays in the
  /// first cache.
  private static var blockInner: Int { MatrixPanels<T>.width * 32 }
  /// Columns of B in one block. The block takes 256 KB and stays in the second cache.
  private static var blockColumns: Int { 256 }

  /// Adds the product to a rectangle of C. `Vector` is the vector of 16 bytes with elements T.
  private func runBlocks<Source: PanelSource, Vector: SIMD & BitwiseCopyable>(
    _ a: UnsafePointer<T>, _ b: Source, _ c: UnsafeMutablePointer<T>, _ rowRange: Range<Int>,
    _ columnRange: Range<Int>, _ vector: Vector.Type
  ) where Source.Element == T, Vector.Scalar: FloatingElement {
    let width = MatrixPanels<T>.width
    let height = MatrixPanels<T>.height
    let depth = min(inner, Self.blockInner)
    let scratch = min((columnRange.count + width - 1) / width * width, Self.blockColumns) * depth
    withThreadScratch(depth * height, of: Vector.self) { repeated in
      withThreadScratch(b.needsScratch ? scratch : 0, of: T.self) { packed in
        for column in stride(
          from: columnRange.lowerBound, to: columnRange.upperBound, by: Self.blockColumns)
        {
          let columnEnd = min(column + Self.blockColumns, columnRange.upperBound)
          for k in stride(from: 0, to: inner, by: Self.blockInner) {
            let kEnd = min(k + Self.blockInner, inner)
            let panels = b.panels(k..<kEnd, column..<columnEnd, packed)
            for row in stride(from: rowRange.lowerBound, to: rowRange.upperBound, by: height) {
              let rowCount = min(height, rowRange.upperBound - row)
              repeatElements(a, row, rowCount, k, kEnd - k, repeated)
              multiply(
                repeated, panels, c + row * storedC + column, rowCount, columnEnd - column,
                kEnd - k)
            }
          }
        }
      }
    }
  }

  /// A panel of four rows stored [inner, 4], every element as a vector of equal elements; rows that
  /// are not there are zeros.
  private func repeatElements<Vector: SIMD>(
    _ a: UnsafePointer<T>, _ row: Int, _ rowCount: Int, _ k: Int, _ kCount: Int,
    _ target: UnsafeMutablePointer<Vector>
  ) where Vector.Scalar: FloatingElement {
    let (rowStep, innerStep) = transposedA ? (1, storedA) : (storedA, 1)
    let start = UnsafeRawPointer(a + row * rowStep + k * innerStep)
      .assumingMemoryBound(to: Vector.Scalar.self)
    if rowCount < MatrixPanels<T>.height {
      target.update(repeating: .zero, count: kCount * MatrixPanels<T>.height)
      for y in 0..<rowCount {
        for p in 0..<kCount {
          target[p &* 4 &+ y] = Vector(repeating: start[y &* rowStep &+ p &* innerStep])
        }
      }
      return
    }
    var source = start
    var target = target
    for _ in 0..<kCount {
      target[0] = Vector(repeating: source[0])
      target[1] = Vector(repeating: source[rowStep])
      target[2] = Vector(repeating: source[2 &* rowStep])
      target[3] = Vector(repeating: source[3 &* rowStep])
      source += innerStep
      target += 4
    }
  }

  /// Adds the product of one panel of A and a row of panels of B to up to four rows of C.
  private func multiply<Vector: SIMD & BitwiseCopyable>(
    _ a: UnsafePointer<Vector>, _ panels: MatrixPanels<T>, _ c: UnsafeMutablePointer<T>,
    _ rowCount: Int, _ columnCount: Int, _ kCount: Int
  ) where Vector.Scalar: FloatingElement {
    let width = MatrixPanels<T>.width
    let panelSize = panels.stride * MemoryLayout<T>.stride
    var b = UnsafeRawPointer(panels.start)
    var column = 0
    if rowCount == 1 {
      while column &+ 4 &* width <= columnCount {
        addRowTile(a, b, panelSize, kCount, c + column)
        b += 4 &* panelSize
        column &+= 4 &* width
      }
    }
    while column < columnCount {
      let panel = b.assumingMemoryBound(to: Vector.self)
      let columns = min(width, columnCount - column)
      if rowCount == MatrixPanels<T>.height, columns == width {
        addTile(a, panel, kCount, c + column, storedC)
      } else {
        addEdgeTile(a, panel, kCount, c + column, rowCount, columns)
      }
      b += panelSize
      column &+= width
    }
  }

  /// Adds the product of the first row of a panel of A and four panels of B to one row of C: as many
  /// sums at a time as in a tile of four rows.
  @inline(__always)
  private func addRowTile<Vector: SIMD & BitwiseCopyable>(
    _ a: UnsafePointer<Vector>, _ b: UnsafeRawPointer, _ panelSize: Int, _ kCount: Int,
    _ c: UnsafeMutablePointer<T>
  ) where Vector.Scalar: FloatingElement {
    let size = MemoryLayout<Vector>.stride
    let c = UnsafeMutableRawPointer(c)
    var (s0, s1) = (load(c, 0, Vector.self), load(c, size, Vector.self))
    var (s2, s3) = (load(c, 2 &* size, Vector.self), load(c, 3 &* size, Vector.self))
    var (s4, s5) = (load(c, 4 &* size, Vector.self), load(c, 5 &* size, Vector.self))
    var (s6, s7) = (load(c, 6 &* size, Vector.self), load(c, 7 &* size, Vector.self))
    var b0 = b.assumingMemoryBound(to: Vector.self)
    var b1 = (b + panelSize).assumingMemoryBound(to: Vector.self)
    var b2 = (b + 2 &* panelSize).assumingMemoryBound(to: Vector.self)
    var b3 = (b + 3 &* panelSize).assumingMemoryBound(to: Vector.self)
    var a = a
    for _ in 0..<kCount {
      let factor = a[0]
      s0 += b0[0] * factor
      s1 += b0[1] * factor
      s2 += b1[0] * factor
      s3 += b1[1] * factor
      s4 += b2[0] * factor
      s5 += b2[1] * factor
      s6 += b3[0] * factor
      s7 += b3[1] * factor
      a += 4
      b0 += 2
      b1 += 2
      b2 += 2
      b3 += 2
    }
    c.storeBytes(of: s0, as: Vector.self)
    c.storeBytes(of: s1, toByteOffset: size, as: Vector.self)
    c.storeBytes(of: s2, toByteOffset: 2 &* size, as: Vector.self)
    c.storeBytes(of: s3, toByteOffset: 3 &* size, as: Vector.self)
    c.storeBytes(of: s4, toByteOffset: 4 &* size, as: Vector.self)
    c.storeBytes(of: s5, toByteOffset: 5 &* size, as: Vector.self)
    c.storeBytes(of: s6, toByteOffset: 6 &* size, as: Vector.self)
    c.storeBytes(of: s7, toByteOffset: 7 &* size, as: Vector.self)
  }

  @inline(__always)
  private func load<Vector: BitwiseCopyable>(
    _ c: UnsafeMutableRawPointer, _ offset: Int, _ vector: Vector.Type
  ) -> Vector {
    c.loadUnaligned(fromByteOffset: offset, as: vector)
  }

  /// Adds a product of panels to a whole tile of C.
  @inline(__always)
  private func addTile<Vector: SIMD & BitwiseCopyable>(
    _ a: UnsafePointer<Vector>, _ b: UnsafePointer<Vector>, _ kCount: Int,
    _ c: UnsafeMutablePointer<T>, _ stride: Int
  ) where Vector.Scalar: FloatingElement {
    let size = MemoryLayout<Vector>.stride
    let c0 = UnsafeMutableRawPointer(c)
    let c1 = UnsafeMutableRawPointer(c + stride)
    let c2 = UnsafeMutableRawPointer(c + 2 &* stride)
    let c3 = UnsafeMutableRawPointer(c + 3 &* stride)
    var s00 = c0.loadUnaligned(as: Vector.self)
    var s01 = c0.loadUnaligned(fromByteOffset: size, as: Vector.self)
    var s10 = c1.loadUnaligned(as: Vector.self)
    var s11 = c1.loadUnaligned(fromByteOffset: size, as: Vector.self)
    var s20 = c2.loadUnaligned(as: Vector.self)
    var s21 = c2.loadUnaligned(fromByteOffset: size, as: Vector.self)
    var s30 = c3.loadUnaligned(as: Vector.self)
    var s31 = c3.loadUnaligned(fromByteOffset: size, as: Vector.self)
    var a = a
    var b = b
    for _ in 0..<kCount {
      let b0 = b[0]
      let b1 = b[1]
      s00 += b0 * a[0]
      s01 += b1 * a[0]
      s10 += b0 * a[1]
      s11 += b1 * a[1]
      s20 += b0 * a[2]
      s21 += b1 * a[2]
      s30 += b0 * a[3]
      s31 += b1 * a[3]
      a += 4
      b += 2
    }
    c0.storeBytes(of: s00, as: Vector.self)
    c0.storeBytes(of: s01, toByteOffset: size, as: Vector.self)
    c1.storeBytes(of: s10, as: Vector.self)
    c1.storeBytes(of: s11, toByteOffset: size, as: Vector.self)
    c2.storeBytes(of: s20, as: Vector.self)
    c2.storeBytes(of: s21, toByteOffset: size, as: Vector.self)
    c3.storeBytes(of: s30, as: Vector.self)
    c3.storeBytes(of: s31, toByteOffset: size, as: Vector.self)
  }

  /// The same for a tile at C's edge, through a whole tile of its own.
  private func addEdgeTile<Vector: SIMD & BitwiseCopyable>(
    _ a: UnsafePointer<Vector>, _ b: UnsafePointer<Vector>, _ kCount: Int,
    _ c: UnsafeMutablePointer<T>, _ rowCount: Int, _ columnCount: Int
  ) where Vector.Scalar: FloatingElement {
    let width = MatrixPanels<T>.width
    let count = width * MatrixPanels<T>.height
    withThreadScratch(count, of: T.self) { tile in
      tile.update(repeating: 0, count: count)
      for y in 0..<rowCount {
        for x in 0..<columnCount { tile[y &* width &+ x] = c[y &* storedC &+ x] }
      }
      addTile(a, b, kCount, tile, width)
      for y in 0..<rowCount {
        for x in 0..<columnCount { c[y &* storedC &+ x] = tile[y &* width &+ x] }
      }
    }
  }
}
