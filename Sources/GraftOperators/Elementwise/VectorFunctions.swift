import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// exp, tanh and their like for loops over many elements: for float32 polynomials without branches
/// and calls, which the compiler turns into vector instructions; for float64 the C library's
/// functions.
///
/// Largest errors in float32, in units in the last place over all arguments: exp 1.1, exp minus one
/// 3.5, logarithm of one plus 2, tanh 1.4, erf 1.5. Infinite arguments give the limits, NaN gives
/// NaN.
extension FloatingElement {
  /// e to the power of `x`.
  @inline(__always)
  static func vectorExp(_ x: Self) -> Self {
    Self.self == Float.self ? Self(VectorFunctions.exp(Float(x))) : .exp(x)
  }

  /// e to the power of `x`, minus 1; accurate near 0.
  @inline(__always)
  static func vectorExpMinusOne(_ x: Self) -> Self {
    Self.self == Float.self
      ? Self(VectorFunctions.expMinusOne(Float(x))) : .apply(expm1, x)
  }

  /// The natural logarithm of 1 + `x`, for `x` from 0 to 1 only; accurate near 0.
  @inline(__always)
  static func vectorLogOnePlus(_ x: Self) -> Self {
    Self.self == Float.self
      ? Self(VectorFunctions.logOnePlus(Float(x))) : .apply(log1p, x)
  }

  /// The hyperbolic tangent.
  @inline(__always)
  static func vectorTanh(_ x: Self) -> Self {
    Self.self == Float.self ? Self(VectorFunctions.tanh(Float(x))) : .tanh(x)
  }

  /// The error function.
  @inline(__always)
  static func vectorErf(_ x: Self) -> Self {
    Self.self == Float.self ? Self(VectorFunctions.erf(Float(x))) : .erf(x)
  }
}

/// The float32 polynomials. Their coefficients are minimax fits (Remez), rounded to float32.
enum VectorFunctions {
  /// 2^k e^r with k whole and |r| <= log(2) / 2.
  @inline(__always)
  static func exp(_ x: Float) -> Float {
    // Beyond these bounds the result is 0 or infinity; NaN passes both comparisons.
    let raised = x < -104 ? -104 : x
    let bounded = raised > 89 ? 89 : raised
    // Adding 1.5 * 2^23 rounds to the nearest whole number, which then stands in the low bits.
    let shifted = bounded * 0x1.715476p+0 + 0x1.8p+23
    let k = shifted - 0x1.8p+23
    let exponent = Int32(bitPattern: shifted.bitPattern) &- Int32(bitPattern: 0x4B40_0000)
    // log(2) in two parts; products of k with the first are exact.
    let r = (bounded - k * 0x1.62e4p-1) - k * 0x1.7f7d1cp-20
    let power = expFraction(r) + 1
    // Two factors, since 2^k itself may be outside the range of normal numbers.
    let half = exponent &>> 1
    return power * powerOfTwo(half) * powerOfTwo(exponent &- half)
  }

  @inline(__always)
  static func expMinusOne(_ x: Float) -> Float {
    x.magnitude < 0.34 ? expFraction(x) : exp(x) - 1
  }

  /// 2 artanh(x / (2 + x)), by an odd polynomial.
  @inline(__always)
  static func logOnePlus(_ x: Float) -> Float {
    let s = x / (2 + x)
    let z = s * s
    var p: Float = 0x1.1ef86ep-3
    p = p * z + 0x1.1eb612p-3
    p = p * z + 0x1.99d27cp-3
    p = p * z + 0x1.5555p-2
    let twice = s + s
    return twice + twice * (z * p)
  }

  /// Odd polynomial near 0; 1 - 2 / (1 + e^(2x)) from 0.625 on.
  @inline(__always)
  static func tanh(_ x: Float) -> Float {
    let a = x.magnitude
    let z = a * a
    var p: Float = -0x1.76ac26p-8
    p = p * z + 0x1.5256dap-6
    p = p * z - 0x1.b8444ap-5
    p = p * z + 0x1.110768p-3
    p = p * z - 0x1.555534p-2
    let near = a + a * (z * p)
    let far = 1 - 2 / (1 + exp(2 * a))
    return withSign(of: x, a < 0.625 ? near : far)
  }

  /// Odd polynomial below 1; 1 - e^(-q) from 1 on, where q is a polynomial fit of -log(erfc).
  @inline(__always)
  static func erf(_ x: Float) -> Float {
    let a = x.magnitude
    let z = a * a
    var p: Float = 0x1.4ae4c8p-14
    p = p * z - 0x1.a485e8p-11
    p = p * z + 0x1.5419f4p-8
    p = p * z - 0x1.b7fbb4p-6
    p = p * z + 0x1.ce2d2p-4
    p = p * z - 0x1.81273ep-2
    p = p * z + 0x1.06eba8p-3
    let near = a + a * p
    // The fit holds up to 4, where erf is 1 in float32.
    let c = a > 4 ? 4 : a
    var q: Float = -0x1.87b2dap-13
    q = q * c + 0x1.82e86p-9
    q = q * c - 0x1.6617fp-6
    q = q * c + 0x1.a67e72p-4
    q = q * c + 0x1.46b434p-1
    q = q * c + 0x1.208b1ap+0
    q = q * c + 0x1.5cdb24p-12
    let far = 1 - exp(-q)
    return withSign(of: x, a < 1 ? near : far)
  }

  /// e^r - 1 for |r| <= 0.35.
  @inline(__always)
  private static func expFraction(_ r: Float) -> Float {
    var p: Float = 0x1.6dbc6ep-10
    p = p * r + 0x1.124148p-7
    p = p * r + 0x1.555454p-5
    p = p * r + 0x1.555486p-3
    p = p * r + 0.5
    return (p * r) * r + r
  }

  /// 2^k for a normal result.
  @inline(__always)
  private static func powerOfTwo(_ k: Int32) -> Float {
    Float(bitPattern: UInt32(bitPattern: (k &+ 127) &<< 23))
  }

  @inline(__always)
  private static func withSign(of x: Float, _ magnitude: Float) -> Float {
    Float(bitPattern: magnitude.bitPattern | (x.bitPattern & 0x8000_0000))
  }
}
