import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Where the elements of a padded tensor come from.
///
/// A negative pad takes elements away; the other end is then padded from what is left.
struct PadGeometry {
  /// What padding repeats.
  enum Mode: String {
    /// Nothing: a constant.
    case constant
    /// The elements before the edge, mirrored at it.
    case reflect
    /// The element at the edge.
    case edge
    /// The elements from the other end.
    case wrap
  }

  let outputShape: Shape
  /// For each axis up to the last padded one, for each position of the output: the position in the
  /// input, -1 for the constant.
  let maps: [[Int]]
  /// Elements behind the last padded axis, which move together.
  let block: Int
  private let inputShape: Shape

  /// - Parameters:
  ///   - pads: elements to add before each of `axes`, then after each.
  ///   - axes: all when nil.
  init(_ shape: Shape, pads: [Int], axes: [Int]?, _ node: Node) throws {
    let modeName = try node.string("mode", default: "constant")
    guard let mode = Mode(rawValue: modeName) else {
      throw GraftError(
        .damaged, "mode is '\(modeName)'; it must be constant, reflect, edge or wrap")
    }
    let axes = try axes.map { try $0.map { try shape.axis($0) } } ?? Array(shape.indices)
    guard Set(axes).count == axes.count else {
      throw GraftError(.damaged, "the axes \(axes) name one twice")
    }
    guard pads.count == 2 * axes.count else {
      throw GraftError(
        .shapeMismatch, "there are \(pads.count) pads; \(axes.count) axes need \(2 * axes.count)")
    }
    var before = [Int](repeating: 0, count: shape.rank)
    var after = before
    for (position, axis) in axes.enumerated() {
      (before[axis], after[axis]) = (pads[position], pads[position + axes.count])
    }
    inputShape = shape
    let outputShape = Shape(
      try shape.indices.map { axis in
        try Self.paddedSize(shape[axis], before[axis], after[axis], axis, mode)
      })
    _ = try outputShape.checkedElementCount()
    let isPadded = shape.indices.map { before[$0] != 0 || after[$0] != 0 }
    let depth = outputShape.contains(0) ? 0 : (isPadded.lastIndex(of: true) ?? -1) + 1
    self.outputShape = outputShape
    maps = (0..<depth).map { axis in
      Self.map(shape[axis], before[axis], outputShape[axis], after[axis], mode)
    }
    block = shape.elementCount(in: depth..<shape.rank)
  }

  private static func paddedSize(
    _ size: Int, _ before: Int, _ after: Int, _ axis: Int, _ mode: Mode
  ) throws -> Int {
    // Cropping either end cannot overflow; what is left decides whether there is something to repeat.
    let left = size.addingReportingOverflow(min(before, 0)).partialValue
    let (kept, overflow) = left.addingReportingOverflow(min(after, 0))
    guard before >= -size, after >= -size, !overflow, kept >= 0 else {
      throw GraftError(
        .shapeMismatch,
        "pads \(before) and \(after) take away more than the \(size) elements of "
          + "axis \(axis)")
    }
    let added = try sumOfSizes(max(before, 0), max(after, 0))
    guard mode == .constant || kept > 0 || added == 0 else {
      throw GraftError(
        .shapeMismatch, "axis \(axis) has no elements to pad with in mode \(mode.rawValue)")
    }
    return try sumOfSizes(kept, added)
  }

  private static func map(_ size: Int, _ before: Int, _ output: Int, _ after: Int, _ mode: Mode)
    -> [Int]
  {
    let first = max(0, -before)
    let kept = size - first - max(0, -after)
    return (0..<output).map { index in
      let position = index - max(0, before)
      if position >= 0 && position < kept { return first + position }
      switch mode {
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

  /// Elements from one position to the next in the input, for each mapped axis.
  var inputStrides: [Int] { Array(inputShape.strides.prefix(maps.count)) }

  /// Rows of the output: all positions of the mapped axes but the last.
  var rows: Int { maps.dropLast().reduce(1) { $0 * $1.count } }
}
