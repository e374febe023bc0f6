import GraftGraph
import GraftTensor

/// How two integer inputs and the output stand for real numbers, from attributes `a_...`, `b_...`,
/// `y_...`, `minimum` and `maximum`.
struct FixedPointPair {
  let a: FixedPointQuantization
  let b: FixedPointQuantization
  let y: FixedPointQuantization
  private let range: FixedPointRange

  init(_ node: Node, _ type: ElementType) throws {
    a = try FixedPointQuantization(node, "a", type)
    b = try FixedPointQuantization(node, "b", type)
    y = try FixedPointQuantization(node, "y", type)
    range = try FixedPointRange(node, type)
  }

  /// A number of steps of the output's scale as the output has it.
  @inline(__always)
  func output<T: FixedPointElement>(_ steps: Int32) -> T {
    T(steps &+ y.zeroPoint, in: range)
  }
}

extension FixedPointQuantization {
  /// An integer less the zero point.
  @inline(__always)
  func centered<T: FixedPointElement>(_ value: T) -> Int32 {
    Int32(truncatingIfNeeded: value) &- zeroPoint
  }
}
