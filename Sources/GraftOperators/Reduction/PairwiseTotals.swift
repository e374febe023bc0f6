import GraftGraph
import GraftTensor

/// What a reduction combines: a term for every element, and how two terms become one.
protocol Reducer {
  associatedtype Value: TensorElement
  /// What leaves any other value unchanged when combined with it.
  var identity: Value { get }
  /// The term of the input's element `index`, which goes into output `output`.
  func term(_ index: Int, _ output: Int) -> Value
  func combine(_ a: Value, _ b: Value) -> Value
}

/// Totals of many terms, several side by side.
///
/// Terms are combined in blocks, the blocks in pairs, the pairs in pairs. A rounding error so grows
/// with the logarithm of the number of terms, not with the number (Higham: The Accuracy of
/// Floating Point Summation, 1993). The order depends on the geometry only.
struct PairwiseTotals<R: Reducer> {
  private let reducer: R
  /// How many totals there are.
  private let width: Int
  /// Totals of blocks, each `width` values: one for every bit that is set in `blocks`, and after
  /// them the block that is being filled.
  private let levels: UnsafeMutablePointer<R.Value>
  private var blocks = 0
  private var current: UnsafeMutablePointer<R.Value>
  /// Terms in each total of the block that is being filled.
  private var steps = 0

  init(_ reducer: R, width: Int, _ scratch: UnsafeMutablePointer<R.Value>) {
    self.reducer = reducer
    self.width = width
    levels = scratch
    current = scratch
    current.initialize(repeating: reducer.identity, count: width)
  }

  /// Adds `rows` rows of neighbours, one term to every total; the totals belong to neighbouring
  /// outputs.
  @inline(__always)
  mutating func addRows(from start: Int, rows: Int, stride: Int, output: Int) {
    var row = 0
    while row < rows {
      let count = min(rows - row, PairwiseTotals<R>.blockSteps - steps)
      let width = width
      let current = current
      let reducer = reducer
      var index = start + row &* stride
      for _ in 0..<count {
        for column in 0..<width {
          current[column] = reducer.combine(
            current[column], reducer.term(index &+ column, output &+ column))
        }
        index &+= stride
      }
      row += count
      add(steps: count)
    }
  }

  /// Adds neighbours that belong to one output, to all totals in turn; `width` is `lanes`.
  @inline(__always)
  mutating func addRun(from start: Int, count: Int, output: Int) {
    let lanes = PairwiseTotals<R>.lanes
    let end = start + count
    var index = start
    while end - index >= lanes {
      let rows = min((end - index) / lanes, PairwiseTotals<R>.blockSteps - steps)
      let current = current
      let reducer = reducer
      for _ in 0..<rows {
        for lane in 0..<lanes {
          current[lane] = reducer.combine(current[lane], reducer.term(index &+ lane, output))
        }
        index &+= lanes
      }
      add(steps: rows)
    }
    for lane in 0..<end - index {
      current[lane] = reducer.combine(current[lane], reducer.term(index &+ lane, output))
    }
    if index < end { add(steps: 1) }
  }

  /// Combines what was added; the totals are then at the start of the scratch memory.
  mutating func finish() {
    var last = current
    while last > levels {
      merge(last)
      last -= width
    }
    current = last
  }

  /// Combines the totals into one; only after `finish`.
  @inline(__always)
  func total() -> R.Value {
    var half = width
    while half > 1 {
      half /= 2
      for lane in 0..<half {
        levels[lane] = reducer.combine(levels[lane], levels[lane + half])
      }
    }
    return levels[0]
  }

  @inline(__always)
  private mutating func add(steps count: Int) {
    steps += count
    if steps >= PairwiseTotals<R>.blockSteps { closeBlock() }
  }

  private mutating func closeBlock() {
    blocks += 1
    for _ in 0..<blocks.trailingZeroBitCount {
      merge(current)
      current -= width
    }
    current += width
    current.initialize(repeating: reducer.identity, count: width)
    steps = 0
  }

  /// Combines totals with those one level below them.
  private func merge(_ totals: UnsafeMutablePointer<R.Value>) {
    let below = totals - width
    for column in 0..<width { below[column] = reducer.combine(below[column], totals[column]) }
  }
}

extension PairwiseTotals {
  /// Terms in each total of a block.
  static var blockSteps: Int { 64 }
  /// Totals side by side for a run of neighbours; a power of two.
  static var lanes: Int { 32 }
}

extension ReductionGeometry {
  /// Values that the scratch memory of a tile holds: a level of totals for every bit of a count,
  /// and one more.
  static var scratchCount: Int { tileWidth * (Int.bitWidth + 1) }

  /// Combines the terms of a tile's outputs, each into its place in `totals`.
  @inline(__always)
  func reduce<R: Reducer>(
    _ tile: Tile, _ reducer: R, _ scratch: UnsafeMutablePointer<R.Value>,
    into totals: UnsafeMutablePointer<R.Value>
  ) {
    if hasContiguousRuns {
      totals[tile.output] = total(tile, reducer, scratch)
      return
    }
    var rows = PairwiseTotals(reducer, width: tile.width, scratch)
    if reducedCount > 0 {
      for run in 0..<runsPerOutput {
        rows.addRows(
          from: tile.start + runOffset(run), rows: inner.size, stride: inner.stride,
          output: tile.output)
      }
    }
    rows.finish()
    for column in 0..<tile.width { totals[tile.output + column] = scratch[column] }
  }

  /// The total of one output whose elements lie in runs of neighbours.
  @inline(__always)
  private func total<R: Reducer>(
    _ tile: Tile, _ reducer: R, _ scratch: UnsafeMutablePointer<R.Value>
  ) -> R.Value {
    guard reducedCount > 0 else { return reducer.identity }
    if reducedCount <= 16 {
      var total = reducer.identity
      for run in 0..<runsPerOutput {
        let start = tile.start + runOffset(run)
        for index in start..<start + inner.size {
          total = reducer.combine(total, reducer.term(index, tile.output))
        }
      }
      return total
    }
    var lanes = PairwiseTotals(reducer, width: PairwiseTotals<R>.lanes, scratch)
    for run in 0..<runsPerOutput {
      lanes.addRun(from: tile.start + runOffset(run), count: inner.size, output: tile.output)
    }
    lanes.finish()
    return lanes.total()
  }
}

extension KernelContext {
  /// The total of the terms of elements 0 ..< `count`, on the kernel's threads.
  ///
  /// The elements are cut in parts of fixed length, so that the total does not depend on the number
  /// of threads.
  func total<R: Reducer>(_ reducer: R, count: Int) throws -> R.Value {
    let length = 65_536
    let parts = (count + length - 1) / length
    return try withScratch(parts, of: R.Value.self) { partial in
      parallel(parts, cost: length) { range in
        for part in range {
          let start = part * length
          partial[part] = pairwiseTotal(reducer, start..<min(count, start + length))
        }
      }
      var total = reducer.identity
      for part in 0..<parts { total = reducer.combine(total, partial[part]) }
      return total
    }
  }
}

/// The total of the terms of neighbouring elements.
private func pairwiseTotal<R: Reducer>(_ reducer: R, _ range: Range<Int>) -> R.Value {
  withThreadScratch(ReductionGeometry.scratchCount, of: R.Value.self) { scratch in
    var lanes = PairwiseTotals(reducer, width: PairwiseTotals<R>.lanes, scratch)
    lanes.addRun(from: range.lowerBound, count: range.count, output: 0)
    lanes.finish()
    return lanes.total()
  }
}
