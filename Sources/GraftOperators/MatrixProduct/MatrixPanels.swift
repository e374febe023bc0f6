import GraftTensor

/// A block of a product's right matrix, laid out for `MatrixMultiplication`: panels of `width`
/// columns, each stored [inner, width], the last filled up with zeros.
struct MatrixPanels<T: FloatingElement> {
  /// Rows of A and C in a tile.
  static var height: Int { 4 }
  /// Columns of a panel: two vectors of 16 bytes.
  static var width: Int { T.self == Float.self ? 8 : 4 }

  let start: UnsafePointer<T>
  /// Elements from one panel to the next.
  let stride: Int
}

/// Something that can lay out blocks of a product's right matrix as panels.
protocol PanelSource {
  associatedtype Element: FloatingElement
  /// Whether `panels` writes to its scratch memory.
  var needsScratch: Bool { get }

  /// The block at rows `inner` and columns `columns`, which start at a multiple of a panel's width.
  ///
  /// - Parameter scratch: room for the panels, aligned to 64 bytes.
  func panels(
    _ inner: Range<Int>, _ columns: Range<Int>, _ scratch: UnsafeMutablePointer<Element>
  ) -> MatrixPanels<Element>
}

extension PanelSource {
  var needsScratch: Bool { true }
}

/// A stored matrix: [inner, columns], or [columns, inner] when transposed.
struct StoredPanels<T: FloatingElement>: PanelSource {
  let start: UnsafePointer<T>
  /// Elements from one stored row to the next.
  let stride: Int
  var isTransposed = false

  func panels(
    _ inner: Range<Int>, _ columns: Range<Int>, _ scratch: UnsafeMutablePointer<T>
  ) -> MatrixPanels<T> {
    let width = MatrixPanels<T>.width
    var target = scratch
    for column in Swift.stride(from: columns.lowerBound, to: columns.upperBound, by: width) {
      let count = min(width, columns.upperBound - column)
      if isTransposed {
        packColumns(start + column * stride + inner.lowerBound, count, inner.count, target)
      } else {
        packRows(start + inner.lowerBound * stride + column, count, inner.count, target)
      }
      target += inner.count * width
    }
    return MatrixPanels(start: scratch, stride: inner.count * width)
  }

  private func packRows(
    _ source: UnsafePointer<T>, _ columnCount: Int, _ innerCount: Int,
    _ target: UnsafeMutablePointer<T>
  ) {
    let width = MatrixPanels<T>.width
    var source = source
    var target = target
    guard columnCount == width else {
      for _ in 0..<innerCount {
        for x in 0..<columnCount { target[x] = source[x] }
        for x in columnCount..<width { target[x] = 0 }
        source += stride
        target += width
      }
      return
    }
    for _ in 0..<innerCount {
      // 32 bytes, whatever the element.
      let line = UnsafeRawPointer(source).loadUnaligned(as: SIMD4<Double>.self)
      UnsafeMutableRawPointer(target).storeBytes(of: line, as: SIMD4<Double>.self)
      source += stride
      target += width
    }
  }

  private func packColumns(
    _ source: UnsafePointer<T>, _ columnCount: Int, _ innerCount: Int,
    _ target: UnsafeMutablePointer<T>
  ) {
    let width = MatrixPanels<T>.width
    var done = 0
    if columnCount == width, T.self == Float.self {
      done = innerCount & ~3
      for x in Swift.stride(from: 0, to: width, by: 4) {
        transposeFours(
          UnsafeRawPointer(source + x * stride), done, UnsafeMutableRawPointer(target + x))
      }
    }
    for x in 0..<width {
      guard x < columnCount else {
        for p in done..<innerCount { target[p &* width &+ x] = 0 }
        continue
      }
      let line = source + x * stride
      for p in done..<innerCount { target[p &* width &+ x] = line[p] }
    }
  }

  /// Four stored rows of float32, `count` of them a multiple of four, as columns of a panel.
  private func transposeFours(
    _ source: UnsafeRawPointer, _ count: Int, _ target: UnsafeMutableRawPointer
  ) {
    let step = stride &* 4
    for p in Swift.stride(from: 0, to: count, by: 4) {
      let a = source.loadUnaligned(fromByteOffset: p &* 4, as: SIMD4<Float>.self)
      let b = source.loadUnaligned(fromByteOffset: p &* 4 &+ step, as: SIMD4<Float>.self)
      let c = source.loadUnaligned(fromByteOffset: p &* 4 &+ 2 &* step, as: SIMD4<Float>.self)
      let d = source.loadUnaligned(fromByteOffset: p &* 4 &+ 3 &* step, as: SIMD4<Float>.self)
      let line = target + p &* 32
      line.storeBytes(of: SIMD4(a[0], b[0], c[0], d[0]), as: SIMD4<Float>.self)
      line.storeBytes(
        of: SIMD4(a[1], b[1], c[1], d[1]), toByteOffset: 32, as: SIMD4<Float>.self)
      line.storeBytes(
        of: SIMD4(a[2], b[2], c[2], d[2]), toByteOffset: 64, as: SIMD4<Float>.self)
      line.storeBytes(
        of: SIMD4(a[3], b[3], c[3], d[3]), toByteOffset: 96, as: SIMD4<Float>.self)
    }
  }
}

/// A whole matrix laid out once, for products that use it many times.
struct PackedPanels<T: FloatingElement>: PanelSource {
  private let inner: Int
  private let start: UnsafePointer<T>
  var needsScratch: Bool { false }

  /// How many elements the panels of a matrix take.
  static func elementCount(inner: Int, columns: Int) -> Int {
    let width = MatrixPanels<T>.width
    return (columns + width - 1) / width * width * inner
  }

  /// - Parameter memory: room for `elementCount(inner:columns:)` elements, aligned to 16 bytes.
  init<Source: PanelSource>(
    _ source: Source, inner: Int, columns: Int, in memory: UnsafeMutablePointer<T>
  ) where Source.Element == T {
    _ = source.panels(0..<inner, 0..<columns, memory)
    self.inner = inner
    start = UnsafePointer(memory)
  }

  func panels(
    _ inner: Range<Int>, _ columns: Range<Int>, _ scratch: UnsafeMutablePointer<T>
  ) -> MatrixPanels<T> {
    let width = MatrixPanels<T>.width
    return MatrixPanels(
      start: start + columns.lowerBound * self.inner + inner.lowerBound * width,
      stride: self.inner * width)
  }
}
