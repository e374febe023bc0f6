import GraftDiagnostics
import GraftTensor

/// The elements of a tensor that Slice takes.
struct SliceGeometry {
  /// The output's shape.
  let shape: Shape
  /// Elements of the input from one position of the output to the next.
  let strides: [Int]
  /// The input's element at the output's first position.
  let start: Int

  /// - Parameters:
  ///   - starts: for each of `axes`, the first position; negative ones count from the end.
  ///   - ends: the positions before which to stop.
  ///   - axes: the first ones when nil.
  ///   - steps: all 1 when nil.
  init(_ input: Shape, starts: [Int], ends: [Int], axes: [Int]?, steps: [Int]?) throws {
    let axes = axes ?? Array(0..<starts.count)
    let steps = steps ?? Array(repeating: 1, count: starts.count)
    guard starts.count == ends.count, starts.count == axes.count, starts.count == steps.count else {
      throw GraftError(
        .shapeMismatch,
        "there are \(starts.count) starts, \(ends.count) ends, \(axes.count) axes and "
          + "\(steps.count) steps; their numbers must be equal")
    }
    var shape = input
    var strides = input.strides
    var start = 0
    var seen: Set<Int> = []
    for (position, listed) in axes.enumerated() {
      let axis = try input.axis(listed)
      guard seen.insert(axis).inserted else {
        throw GraftError(.damaged, "the axes \(axes) name axis \(axis) twice")
      }
      let range = try Self.range(starts[position], ends[position], steps[position], input[axis])
      shape[axis] = range.count
      start &+= range.first &* strides[axis]
      // With one element there is no next one, and a step far beyond the axis must not overflow.
      strides[axis] = range.count > 1 ? strides[axis] &* steps[position] : 0
    }
    self.shape = shape
    self.strides = strides
    self.start = shape.contains(0) ? 0 : start
  }

  /// The first position and the number of positions along an axis of `size` elements.
  private static func range(_ start: Int, _ end: Int, _ step: Int, _ size: Int) throws
    -> (first: Int, count: Int)
  {
    guard step != 0 else { throw GraftError(.damaged, "a step is 0") }
    func clamped(_ position: Int, _ range: ClosedRange<Int>) -> Int {
      min(max(position < 0 ? position + size : position, range.lowerBound), range.upperBound)
    }
    guard size > 0 else { return (0, 0) }
    let first = clamped(start, step > 0 ? 0...size : 0...size - 1)
    // Backwards, -1 stands for the place before the first element.
    let last = clamped(end, step > 0 ? 0...size : -1...size - 1)
    let distance = step > 0 ? last - first : first - last
    guard distance > 0 else { return (0, 0) }
    return (first, 1 + Int((UInt(distance) - 1) / step.magnitude))
  }
}
