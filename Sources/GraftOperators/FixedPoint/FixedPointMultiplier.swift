/// A real factor as a whole number of 31 bits and a power of two, and the product of whole numbers
/// with it, rounded to whole numbers as the reference kernels round.
///
/// factor = value * 2^(shift - 31), where value is 0 or at least 2^30 in magnitude. Source: Jacob
/// and others, Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
/// Inference, 2018, section 2.2; TensorFlow Lite's QuantizeMultiplier.
package struct FixedPointMultiplier: Sendable, Equatable {
  package let value: Int32
  package let shift: Int32

  package init(value: Int32, shift: Int32) {
    self.value = value
    self.shift = shift
  }

  /// The nearest factor; factors below 2^-32 and those that are no numbers become 0.
  package init(_ real: Double) {
    guard real.isFinite, real != 0 else {
      self.init(value: 0, shift: 0)
      return
    }
    // Fraction from 0.5 up to but not 1.
    var exponent = real.exponent + 1
    let fraction = (real.sign == .minus ? -0.5 : 0.5) * real.significand
    var fixed = Int64((fraction * 0x1p31).rounded(.toNearestOrAwayFromZero))
    if fixed == 1 << 31 {
      fixed = 1 << 30
      exponent += 1
    }
    if exponent < -31 {
      self.init(value: 0, shift: 0)
    } else {
      self.init(value: Int32(truncatingIfNeeded: fixed), shift: Int32(exponent))
    }
  }

  /// x * factor, rounded twice: to a whole number of 2^-shift, then to a whole number.
  ///
  /// Powers of two above 31 count modulo 32, as in the shifts of the processors that the reference
  /// kernels run on.
  @inline(__always)
  package func callAsFunction(_ x: Int32) -> Int32 {
    let left = Swift.max(shift, 0)
    return roundingHalving(doublingHighProduct(x &<< left, value), left &- shift)
  }

  /// x * factor for sums of 64 bits: with the upper 16 bits of the factor, rounded once.
  @inline(__always)
  package func callAsFunction(_ x: Int64) -> Int32 {
    let reduced = value < 0x7FFF_0000 ? (value &+ 0x8000) >> 16 : 0x7FFF
    let places = Int64(15 &- shift)
    let sum = x &* Int64(reduced) &+ (1 << (places &- 1))
    return Int32(truncatingIfNeeded: sum >> places)
  }
}

extension FixedPointMultiplier {
  /// x * factor, rounded once, halves up.
  @inline(__always)
  package func roundedOnce(_ x: Int32) -> Int32 {
    let places = Int64(31 &- shift)
    let product = Int64(x) &* Int64(value) &+ (1 << (places &- 1))
    return Int32(truncatingIfNeeded: product >> places)
  }

  /// The same for sums of 64 bits.
  @inline(__always)
  package func roundedOnce(_ x: Int64) -> Int32 {
    let places = UInt64(clamping: 31 &- shift)
    let product = x.multipliedFullWidth(by: Int64(value))
    let half: UInt64 = 1 << (places &- 1)
    let (low, carry) = product.low.addingReportingOverflow(half)
    let high = UInt64(bitPattern: product.high &+ (carry ? 1 : 0))
    return Int32(truncatingIfNeeded: low >> places | high << (64 &- places))
  }
}

/// The upper 32 bits of 2 * a * b, rounded to nearest, halves up; the one product that does not fit
/// becomes the largest number.
@inline(__always)
package func doublingHighProduct(_ a: Int32, _ b: Int32) -> Int32 {
  if a == .min, b == .min { return .max }
  let product = Int64(a) &* Int64(b)
  let nudge: Int64 = product >= 0 ? 1 << 30 : 1 - 1 << 30
  return Int32(truncatingIfNeeded: (product &+ nudge) / (1 << 31))
}

/// x / 2^exponent, rounded to nearest, halves away from zero; `exponent` is from 0 to 31.
@inline(__always)
package func roundingHalving(_ x: Int32, _ exponent: Int32) -> Int32 {
  let mask = Int32(truncatingIfNeeded: (Int64(1) &<< Int64(exponent)) &- 1)
  let threshold = (mask >> 1) &+ (x < 0 ? 1 : 0)
  return (x &>> exponent) &+ (x & mask > threshold ? 1 : 0)
}
