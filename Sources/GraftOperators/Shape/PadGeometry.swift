import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sizes of a padded tensor.
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
  let inputShape: Shape
  /// Elements added before each axis; taken away where negative.
  let before: [Int]
  /// Elements added after each axis; taken away where negative.
  let after: [Int]
  let mode: Mode

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
    let (first, last) = (before, after)
    outputShape = Shape(
      try shape.indices.map { axis in
        try Self.paddedSize(shape[axis], first[axis], last[axis], axis, mode)
      })
    _ = try outputShape.checkedElementCount()
    inputShape = shape
    (self.before, self.after, self.mode) = (before, after, mode)
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
}
