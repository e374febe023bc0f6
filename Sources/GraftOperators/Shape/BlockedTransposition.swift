import GraftGraph
import GraftTensor

/// A strided copy whose innermost output axis jumps through the input while another axis is dense
/// there. It goes tile by tile, so that what is read together lies together, as does what is written.
struct BlockedTransposition {
  private typealias Axis = (size: Int, input: Int, output: Int)
  private var outer: [Axis] = []
  private let dense: Axis
  private let inner: Axis
  private let start: Int

  /// Elements of the dense axis in one tile.
  private static var tileHeight: Int { 16 }
  /// Elements of the innermost axis in one tile.
  private static var tileWidth: Int { 8 }

  /// Nil when the walk is no transposition, or one so narrow that tiles do not help.
  init?(_ rows: StridedRows) {
    guard !rows.isEmpty, let last = rows.axes.last, last.stride != 1, last.stride != 0,
      let denseIndex = rows.axes.dropLast().lastIndex(where: { $0.stride == 1 && $0.size >= 4 })
    else { return nil }
    var axes: [Axis] = []
    var output = 1
    for axis in rows.axes.reversed() {
      axes.insert((axis.size, axis.stride, output), at: 0)
      output *= axis.size
    }
    inner = axes.removeLast()
    dense = axes.remove(at: denseIndex)
    outer = axes
    start = rows.start
  }

  @inline(__always)
  func run<T>(
    _ context: KernelContext, from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>
  ) {
    let tiles = (dense.size + Self.tileHeight - 1) / Self.tileHeight
    let count = outer.reduce(tiles) { $0 * $1.size }
    context.parallel(count, cost: Self.tileHeight * inner.size) { range in
      for index in range {
        let first = index % tiles * Self.tileHeight
        var source = start + first
        var target = first * dense.output
        var rest = index / tiles
        for axis in outer.reversed() {
          let position = rest % axis.size
          rest /= axis.size
          source += position * axis.input
          target += position * axis.output
        }
        strip(x + source, y + target, height: min(Self.tileHeight, dense.size - first))
      }
    }
  }

  /// Copies `height` neighbours along the dense axis, over the whole innermost axis.
  @inline(__always)
  private func strip<T>(
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>, height: Int
  ) {
    let step = inner.input
    var column = 0
    while column + Self.tileWidth <= inner.size {
      var source = x + column * step
      var target = y + column
      for _ in 0..<height {
        target[0] = source[0]
        target[1] = source[step]
        target[2] = source[2 &* step]
        target[3] = source[3 &* step]
        target[4] = source[4 &* step]
        target[5] = source[5 &* step]
        target[6] = source[6 &* step]
        target[7] = source[7 &* step]
        source += 1
        target += dense.output
      }
      column += Self.tileWidth
    }
    for line in 0..<height {
      let target = y + line * dense.output
      for i in column..<inner.size { target[i] = x[line + i &* step] }
    }
  }
}
