/// The hyperbolic tangent of int16 numbers, interpolated in a table; y is a whole number of
/// 1/32768.
///
/// Attribute: `x_scale`. Functions of 8-bit numbers are `FixedPointTable`. No gradient. Source:
/// TensorFlow Lite's TANH of int16, reference kernel.
struct FixedPointTanh: FixedPointWideFunction {
  let name = "FixedPointTanh"
  let powers: ClosedRange<Int32> = 0...1

  @inline(__always)
  func value(_ x: Int32) -> Int16 {
    let size = Int32(bitPattern: SigmoidTable.value(x.magnitude, bits: 8))
    let result =
      x >= 0 ? size &- 1 << 23 &+ 1 << 7 : 0 &- size &+ 1 << 23 &+ 1 << 7 &- 1
    return Int16(truncatingIfNeeded: result >> 8)
  }
}
