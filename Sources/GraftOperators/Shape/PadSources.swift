import GraftTensor

/// Where the elements of a padded tensor come from. The output is not empty.
///
/// A row is what lies along the last padded axis at one place of the axes before; it consists of
/// blocks, the elements behind that axis, which move together.
struct PadSources {
  /// For each position along the rows, the position in the input, -1 for the constant.
  let columns: [Int]
  /// For each row, the first element of the input's row that it is made of; -1 where it is all
  /// padding.
  let rowStarts: [Int]
  /// Elements in a block.
  let block: Int
  /// Blocks in a row of the input.
  let inputColumns: Int
  /// The longest part of the columns that lies together in the input as well.
  let longestRun: Range<Int>

  init(_ geometry: PadGeometry) {
    let shape = geometry.inputShape
    let isPadded = shape.indices.map { geometry.before[$0] != 0 || geometry.after[$0] != 0 }
    guard let axis = isPadded.lastIndex(of: true) else {
      // One row of one block: a copy.
      (columns, rowStarts, block, inputColumns) = ([0], [0], shape.elementCount, 1)
      longestRun = 0..<1
      return
    }
    columns = Self.map(geometry, axis)
    block = shape.elementCount(in: axis + 1..<shape.rank)
    inputColumns = shape[axis]
    let strides = shape.strides
    rowStarts = (0..<axis).reduce([0]) { starts, axis in
      let map = Self.map(geometry, axis)
      return starts.flatMap { start in
        map.map { start < 0 || $0 < 0 ? -1 : start + $0 * strides[axis] }
      }
    }
    longestRun = Self.longestRun(columns)
  }

  /// For each position of the output along an axis, the position in the input, -1 for the constant.
  private static func map(_ geometry: PadGeometry, _ axis: Int) -> [Int] {
    let (before, after) = (geometry.before[axis], geometry.after[axis])
    let first = max(0, -before)
    let kept = geometry.inputShape[axis] - first - max(0, -after)
    return (0..<geometry.outputShape[axis]).map { index in
      let position = index - max(0, before)
      if position >= 0 && position < kept { return first + position }
      switch geometry.mode {
      case .constant: return -1
      case .edge: return first + (position < 0 ? 0 : kept - 1)
      case .wrap: return first + modulo(position, kept)
      case .reflect:
        guard kept > 1 else { return first }
        let place = modulo(position, 2 * (kept - 1))
        return first + (place < kept ? place : 2 * (kept - 1) - place)
      }
    }
  }

  private static func modulo(_ value: Int, _ period: Int) -> Int {
    let rest = value % period
    return rest < 0 ? rest + period : rest
  }

  private static func longestRun(_ map: [Int]) -> Range<Int> {
    var longest = 0..<0
    var first = 0
    for index in map.indices {
      if map[index] < 0 {
        first = index + 1
        continue
      }
      if index > first, map[index] != map[index - 1] + 1 { first = index }
      if index + 1 - first > longest.count { longest = first..<index + 1 }
    }
    return longest
  }
}
