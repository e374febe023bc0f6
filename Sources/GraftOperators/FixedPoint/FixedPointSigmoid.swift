/// 1 / (1 + e^-x) of int16 numbers, interpolated in a table; y is a whole number of 1/32768.
///
/// Attribute: `x_scale`. Functions of 8-bit numbers are `FixedPointTable`. No gradient. Source:
/// TensorFlow Lite's LOGISTIC of int16, reference kernel.
struct FixedPointSigmoid: FixedPointWideFunction {
  let name = "FixedPointSigmoid"
  let powers: ClosedRange<Int32> = 0...0

  @inline(__always)
  func value(_ x: Int32) -> Int16 {
    let size = SigmoidTable.value(x.magnitude, bits: 9)
    let result = x >= 0 ? size &+ 1 << 9 : 1 << 25 &- size &+ 1 << 9 &- 1
    return Int16(truncatingIfNeeded: result >> 10)
  }
}
