import GraftGraph
import GraftTensor

/// Where the elements lie that a reduction combines into each of its outputs.
///
/// Neighbouring axes that are all kept or all reduced count as one. What is left has one of two
/// layouts: the innermost axis is reduced, so an output combines runs of neighbours; or it is kept,
/// so neighbouring outputs combine neighbours, which can be done side by side.
struct ReductionGeometry: Sendable {
  /// An axis, or several merged ones: size and elements between neighbours.
  struct Axis: Sendable {
    var size: Int
    var stride: Int
  }

  let outputCount: Int
  /// How many elements an output combines.
  let reducedCount: Int
  /// The number of neighbouring outputs that are combined side by side; 1 where the innermost axis
  /// is reduced.
  let columns: Int
  /// The kept axes, outermost first, without the columns.
  private var kept: [Axis] = []
  /// The reduced axes, outermost first, without `inner`.
  private var reduced: [Axis] = []
  /// The innermost reduced axis.
  let inner: Axis

  /// How many columns a tile has at most.
  static let tileWidth = 64

  /// - Parameter reduced: for each axis, whether it is reduced.
  init(_ shape: Shape, reduced isReduced: [Bool]) {
    var axes: [(axis: Axis, isReduced: Bool)] = []
    for ((size, stride), isReduced) in zip(zip(shape, shape.strides), isReduced) where size != 1 {
      if let last = axes.last, last.isReduced == isReduced {
        axes[axes.count - 1].axis = Axis(size: last.axis.size &* size, stride: stride)
      } else {
        axes.append((Axis(size: size, stride: stride), isReduced))
      }
    }
    var columns = 1
    if let last = axes.last, !last.isReduced {
      columns = last.axis.size
      axes.removeLast()
    }
    self.columns = columns
    kept = axes.filter { !$0.isReduced }.map(\.axis)
    reduced = axes.filter(\.isReduced).map(\.axis)
    outputCount = kept.reduce(columns) { $0 &* $1.size }
    reducedCount = reduced.reduce(1) { $0 &* $1.size }
    inner = reduced.popLast() ?? Axis(size: 1, stride: columns)
  }

  /// A geometry that reduces the given axes, which may be negative but are all valid.
  init(_ shape: Shape, axes: [Int]) {
    var isReduced = [Bool](repeating: false, count: shape.rank)
    for axis in axes {
      let axis = axis < 0 ? axis + shape.rank : axis
      if isReduced.indices.contains(axis) { isReduced[axis] = true }
    }
    self.init(shape, reduced: isReduced)
  }

  /// Whether the elements that an output combines are neighbours.
  var hasContiguousRuns: Bool { inner.stride == 1 && columns == 1 }

  /// How many runs of `inner` an output combines.
  var runsPerOutput: Int { reduced.reduce(1) { $0 &* $1.size } }

  /// The input's element at which an output's given run starts, relative to the output's first.
  @inline(__always)
  func runOffset(_ run: Int) -> Int { Self.offset(run, reduced) }

  /// The input's element at the start of a row of outputs.
  @inline(__always)
  func rowOffset(_ row: Int) -> Int { Self.offset(row, kept) }

  @inline(__always)
  private static func offset(_ index: Int, _ axes: [Axis]) -> Int {
    if axes.count == 1 { return index &* axes[0].stride }
    var rest = index
    var offset = 0
    for axis in axes.reversed() {
      offset &+= rest % axis.size &* axis.stride
      rest /= axis.size
    }
    return offset
  }
}

extension ReductionGeometry {
  /// Neighbouring outputs that are computed together.
  struct Tile {
    /// The first output.
    let output: Int
    let width: Int
    /// The first input element of the first output.
    let start: Int

    var outputs: Range<Int> { output..<output + width }
  }

  /// Calls `body` on the kernel's threads with tiles that cover all outputs, and memory to reduce
  /// them with.
  ///
  /// - Parameter cost: a rough number of simple steps for an element.
  @inline(__always)
  func forEachTile<Value>(
    _ context: KernelContext, of type: Value.Type, cost: Int = 1,
    _ body: (Tile, UnsafeMutablePointer<Value>) -> Void
  ) {
    guard outputCount > 0 else { return }
    let tilesPerRow = (columns + Self.tileWidth - 1) / Self.tileWidth
    let work = max(1, reducedCount) &* min(columns, Self.tileWidth) &* cost
    context.parallel(outputCount / columns * tilesPerRow, cost: work) { range in
      withThreadScratch(Self.scratchCount, of: Value.self) { scratch in
        for index in range {
          let row = index / tilesPerRow
          let column = index % tilesPerRow * Self.tileWidth
          let tile = Tile(
            output: row * columns + column, width: min(Self.tileWidth, columns - column),
            start: rowOffset(row) + column)
          body(tile, scratch)
        }
      }
    }
  }

  /// Neighbouring elements of the input.
  struct Stretch {
    /// The first element.
    let start: Int
    let count: Int
    /// The first element's output.
    let output: Int
    /// The step to the next element's output: 0 or 1.
    let step: Int

    /// Calls `body` with every element and what `value` gives for its output.
    ///
    /// Where the elements belong to one output its value is formed once for all of them, so that the
    /// loop over them becomes vector instructions.
    @inline(__always)
    func forEachElement<Value>(_ value: (Int) -> Value, apply body: (Int, Value) -> Void) {
      if step == 0 {
        let value = value(output)
        for i in start..<start + count { body(i, value) }
      } else {
        for i in 0..<count { body(start + i, value(output + i)) }
      }
    }
  }

  /// Calls `body` on the kernel's threads with stretches of neighbouring elements that cover the
  /// input.
  @inline(__always)
  func forEachStretch(
    _ context: KernelContext, cost: Int = 1, _ body: (Stretch) -> Void
  ) {
    guard outputCount > 0, reducedCount > 0 else { return }
    let runs = runsPerOutput
    let rows = outputCount / columns
    if hasContiguousRuns {
      let length = 8192
      let pieces = (inner.size + length - 1) / length
      context.parallel(rows * runs * pieces, cost: min(length, inner.size) &* cost) { range in
        for index in range {
          let run = index / pieces
          let first = index % pieces * length
          let row = run / runs
          body(
            Stretch(
              start: rowOffset(row) + runOffset(run % runs) + first,
              count: min(length, inner.size - first), output: row, step: 0))
        }
      }
    } else {
      context.parallel(rows * runs * inner.size, cost: columns &* cost) { range in
        for index in range {
          let run = index / inner.size
          let row = run / runs
          body(
            Stretch(
              start: rowOffset(row) + runOffset(run % runs) + index % inner.size &* inner.stride,
              count: columns, output: row * columns, step: 1))
        }
      }
    }
  }

  /// The same for the elements of a tile's outputs, on the calling thread.
  @inline(__always)
  func forEachElement<Value>(
    of tile: Tile, _ value: (Int) -> Value, apply body: (Int, Value) -> Void
  ) {
    guard reducedCount > 0 else { return }
    for run in 0..<runsPerOutput {
      var start = tile.start + runOffset(run)
      if hasContiguousRuns {
        let value = value(tile.output)
        for i in 0..<inner.size { body(start &+ i, value) }
      } else {
        for _ in 0..<inner.size {
          for i in 0..<tile.width { body(start &+ i, value(tile.output &+ i)) }
          start &+= inner.stride
        }
      }
    }
  }
}
