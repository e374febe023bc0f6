import GraftTensor

/// A convolution as products of matrices, one for each image and group: the weights times the
/// image's patches.
struct ConvolutionProduct<T: FloatingElement> {
  let geometry: ConvolutionGeometry
  let threads: Int

  /// - Parameters:
  ///   - x: [batch, groups * input channels, positions].
  ///   - weights: [groups * output channels, input channels, taps].
  ///   - bias: [groups * output channels]; zeros when nil.
  ///   - y: [batch, groups * output channels, windows].
  func run(
    _ x: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ y: UnsafeMutablePointer<T>
  ) {
    let window = geometry.window
    if geometry.groups == 1, window.coversInput {
      runCovering(x, weights, bias, y)
    } else if window.isPointwise {
      run(x, weights, bias, y) { StoredPanels(start: $0, stride: window.inputCount) }
    } else {
      run(x, weights, bias, y) { PatchPanels(image: $0, window: window) }
    }
  }

  /// One window as large as the image: a single product for the whole batch.
  private func runCovering(
    _ x: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ y: UnsafeMutablePointer<T>
  ) {
    let channels = geometry.outputChannels
    for image in 0..<geometry.batch {
      fill(y + image * channels, 0..<channels, 0..<1, bias)
    }
    MatrixMultiplication<T>(
      rows: geometry.batch, columns: channels, inner: geometry.innerCount, transposedB: true,
      accumulates: true
    ).run(x, weights, y, threads: threads)
  }

  private func run<Source: PanelSource>(
    _ x: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ y: UnsafeMutablePointer<T>, _ source: (UnsafePointer<T>) -> Source
  ) where Source.Element == T {
    let channels = geometry.outputChannels
    let positions = geometry.window.outputCount
    let groupSize = geometry.inputChannels * geometry.window.inputCount
    let product = MatrixMultiplication<T>(
      rows: channels, columns: positions, inner: geometry.innerCount, accumulates: true)
    let parts = ProductParts(
      count: geometry.batch * geometry.groups, rows: channels, columns: positions,
      inner: geometry.innerCount, threads: threads)
    parts.run { index, rows, columns in
      let group = index % geometry.groups
      let target = y + index * channels * positions
      fill(target, rows, columns, bias.map { $0 + group * channels })
      product.runPart(
        weights + group * channels * geometry.innerCount, source(x + index * groupSize), target,
        rows: rows, columns: columns)
    }
  }

  private func fill(
    _ y: UnsafeMutablePointer<T>, _ rows: Range<Int>, _ columns: Range<Int>,
    _ bias: UnsafePointer<T>?
  ) {
    let positions = geometry.window.outputCount
    for row in rows {
      (y + row * positions + columns.lowerBound).update(
        repeating: bias?[row] ?? 0, count: columns.count)
    }
  }
}

/// Many products of one size, cut into parts that keep all threads busy.
struct ProductParts {
  private let count: Int
  private let rows: Int
  private let columns: Int
  private let threads: Int
  /// Into how many parts the rows and the columns of each product are cut.
  private var rowParts = 1
  private var columnParts = 1

  init(count: Int, rows: Int, columns: Int, inner: Int, threads: Int) {
    self.count = count
    self.rows = rows
    self.columns = columns
    let work = Double(count) * Double(rows) * Double(columns) * Double(max(1, inner))
    self.threads = work < 65_536 ? 1 : threads
    guard self.threads > 1, count > 0, count < 4 * threads else { return }
    // Parts of columns share no packing, parts of rows repeat it: these only as threads need them.
    columnParts = max(1, min((4 * threads + count - 1) / count, columns / 64))
    let parts = count * columnParts
    if parts < threads { rowParts = max(1, min((threads + parts - 1) / parts, rows / 16)) }
  }

  /// Calls `body` with a product's index and a rectangle of its result.
  func run(_ body: (_ index: Int, _ rows: Range<Int>, _ columns: Range<Int>) -> Void) {
    let parts = rowParts * columnParts
    parallelLoop(count * parts, threads: threads) { range in
      for part in range {
        body(
          part / parts, Self.part(part % parts / columnParts, of: rowParts, rows, 4),
          Self.part(part % columnParts, of: columnParts, columns, 8))
      }
    }
  }

  /// A part of `0 ..< count` that begins and, but for the last, ends at a multiple of `unit`.
  private static func part(_ index: Int, of parts: Int, _ count: Int, _ unit: Int) -> Range<Int> {
    let units = (count + unit - 1) / unit
    return min(count, index * units / parts * unit)..<min(count, (index + 1) * units / parts * unit)
  }
}
