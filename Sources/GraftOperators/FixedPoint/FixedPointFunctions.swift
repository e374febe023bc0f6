/// Functions of fixed-point numbers of 16 or 32 bits, with no floating-point arithmetic inside.
///
/// A number with n integer bits and a sign is a whole number of 2^(n + 1 - width). Sources:
/// gemmlowp's fixed-point design; the constants are the functions' values, rounded.
package enum FixedPointFunctions<Number: FixedWidthInteger & SignedInteger> {
  /// 1, as nearly as a number without integer bits holds it.
  static var one: Number { .max }

  private static var fractionalBits: Int { Number.bitWidth - 1 }

  /// A constant given in 32 bits.
  private static func constant(_ value: Int32) -> Number {
    Number.bitWidth == 32
      ? Number(truncatingIfNeeded: value)
      : Number(clamping: roundingHalving(value, Int32(32 - Number.bitWidth)))
  }

  /// The product of two numbers, with the integer bits of both, rounded to nearest.
  package static func product(_ a: Number, _ b: Number) -> Number {
    if a == .min, b == .min { return .max }
    let product = Int64(a) &* Int64(b)
    let half = Int64(1) << Int64(Number.bitWidth - 2)
    return Number(truncatingIfNeeded: (product &+ (product >= 0 ? half : 1 - half)) / (2 * half))
  }

  /// x / 2^exponent, rounded to nearest.
  package static func halved(_ x: Number, _ exponent: Int) -> Number {
    Number(truncatingIfNeeded: roundingHalving(Int32(x), Int32(exponent)))
  }

  /// x * 2^exponent, limited to what a number holds.
  static func scaledUp(_ x: Number, _ exponent: Int) -> Number {
    let limit: Number = 1 << (Number.bitWidth - 1 - exponent) - 1
    return x > limit ? .max : x < -limit ? .min : x << exponent
  }

  /// e^x for x <= 0; the result has no integer bits.
  ///
  /// x is a multiple of a quarter and a rest from -1/4 to 0: a polynomial for the rest, and a
  /// factor e^(-2^k) for every bit of the multiple.
  package static func exp(_ x: Number, integerBits: Int) -> Number {
    guard x != 0 else { return one }
    let fraction = fractionalBits - integerBits
    let quarter: Number = 1 << (fraction - 2)
    let rest = (x & (quarter - 1)) &- quarter
    if integerBits > 5, x < -(32 << fraction) { return 0 }
    var result = expNearZero(scaledUp(rest, integerBits))
    let multiple = rest &- x
    for (k, factor) in zip((-2)..., powersOfE) where k < integerBits {
      guard multiple & (1 << (fraction + k)) != 0 else { continue }
      result = product(result, constant(factor))
    }
    return result
  }

  /// e^x for x from -1/4 to 0, both without integer bits: the Taylor polynomial around -1/8.
  private static func expNearZero(_ x: Number) -> Number {
    let center = constant(1_895_147_668)  // e^(-1/8)
    let d = x &+ 1 << (fractionalBits - 3)
    let d2 = product(d, d)
    let d3 = product(d2, d)
    let d4 = product(d2, d2)
    let cubic = product(halved(d4, 2) &+ d3, constant(715_827_883))
    let tail = halved(cubic &+ d2, 1)
    let (sum, overflow) = center.addingReportingOverflow(product(center, d &+ tail))
    return overflow ? .max : sum
  }

  /// 1 / (1 + x) for x from 0 to 1, both without integer bits.
  static func reciprocalOfOnePlus(_ x: Number) -> Number { scaledUp(newton(x), 1) }

  /// (1 - x) / (1 + x) for x from 0 to 1, both without integer bits.
  static func oneMinusOverOnePlus(_ x: Number) -> Number {
    scaledUp(newton(x) &- 1 << (fractionalBits - 2), 2)
  }

  /// 2 / (1 + x) with two integer bits: three steps of Newton's method from 48/17 - 32/17 * (1 + x)
  /// / 2.
  private static func newton(_ x: Number) -> Number {
    let sum = Int64(x) + Int64(one)
    let half = Number(truncatingIfNeeded: (sum + (sum >= 0 ? 1 : -1)) / 2)
    var y = constant(1_515_870_810) &+ product(half, constant(-1_010_580_540))
    for _ in 0..<3 {
      let error = 1 << (fractionalBits - 2) &- product(half, y)
      y = y &+ scaledUp(product(y, error), 2)
    }
    return y
  }

  /// 1 / (1 + e^-x); the result has no integer bits.
  package static func logistic(_ x: Number, integerBits: Int) -> Number {
    guard x != 0 else { return 1 << (fractionalBits - 1) }
    let positive = reciprocalOfOnePlus(exp(x > 0 ? 0 &- x : x, integerBits: integerBits))
    return x > 0 ? positive : one &- positive
  }

  /// The hyperbolic tangent; the result has no integer bits.
  package static func tanh(_ x: Number, integerBits: Int) -> Number {
    guard x != 0 else { return 0 }
    // The double of x has the same bits and one more integer bit.
    let size = oneMinusOverOnePlus(exp(x > 0 ? 0 &- x : x, integerBits: integerBits + 1))
    return x > 0 ? size : 0 &- size
  }
}

/// e^(-2^k) * 2^31 for k from -2 to 4.
private let powersOfE: [Int32] = [
  1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242,
]

extension FixedPointFunctions<Int32> {
  /// The reciprocal of a positive number with 12 integer bits: a fraction without integer bits, and
  /// the power of two that it is to be divided by.
  static func reciprocal(_ x: Int32) -> (fraction: Int32, exponent: Int32) {
    let zeros = UInt32(x.leadingZeroBitCount)
    let normal = UInt32(bitPattern: x) &<< zeros &- 1 << 31
    return (reciprocalOfOnePlus(Int32(bitPattern: normal)), 12 - Int32(zeros))
  }
}
