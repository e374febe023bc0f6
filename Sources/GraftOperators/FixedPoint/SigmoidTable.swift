#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The sigmoid at multiples of 1/24 as whole numbers of 2^-16, interpolated in between.
///
/// Source: TensorFlow Lite's table for int16 LOGISTIC and TANH.
enum SigmoidTable {
  /// sigmoid(i / 24), rounded, where the table of the reference kernels is not one higher.
  private static let values: [UInt32] = (0..<256).map { i in
    let rounded = (65536 / (1 + exp(-Double(i) / 24))).rounded(.toNearestOrAwayFromZero)
    return UInt32(rounded) + (raised.contains(i) ? 1 : 0)
  }

  private static let raised: Set<Int> = [
    4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41,
    43,
    44, 45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255,
  ]

  /// The sigmoid of a number of 24ths with `bits` bits behind them, as a whole number of 2^-(16 +
  /// bits).
  @inline(__always)
  static func value(_ x: UInt32, bits: UInt32) -> UInt32 {
    let index = Int(x >> bits)
    guard index < 255 else { return bits == 9 ? 0x7FFF << 10 : 0xFFFF << 8 }
    let (left, right) = (values[index], values[index + 1])
    return left << bits &+ (x & (1 << bits - 1)) &* (right &- left)
  }

  /// How int16 numbers become arguments of the table.
  struct Factor {
    /// 0 where the scale is a power of two that `shift` says.
    let multiplier: Int32
    let shift: Int32

    /// - Parameter powers: the powers of two, above 2^-12, that need no multiplier.
    init(scale: Float, powers: ClosedRange<Int32>) {
      let logarithm = log(scale) * (1 / log(2 as Float))
      let nearest = logarithm.rounded(.toNearestOrAwayFromZero)
      let power = 12 + Int32(max(-1000, min(1000, nearest)))
      if abs(logarithm - nearest) < 1e-3, powers.contains(power) {
        (multiplier, shift) = (0, power)
        return
      }
      var factor = Double(scale) * 4096 * 3
      var left: Int32 = 0
      while factor <= 32767.0 / 2, left <= 30 {
        left += 1
        factor *= 2
      }
      (multiplier, shift) = (Int32(min(factor, Double(Int32.max))), left)
    }
  }
}
