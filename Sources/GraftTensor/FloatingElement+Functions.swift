#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FloatingElement {
  /// e to the power of `x`.
  @inlinable @inline(__always)
  package static func exp(_ x: Self) -> Self {
    Self.self == Float.self ? Self(expf(Float(x))) : Self(_exp(Double(x)))
  }

  /// The natural logarithm.
  @inlinable @inline(__always)
  package static func log(_ x: Self) -> Self {
    Self.self == Float.self ? Self(logf(Float(x))) : Self(_log(Double(x)))
  }

  @inlinable @inline(__always)
  package static func tanh(_ x: Self) -> Self {
    Self.self == Float.self ? Self(tanhf(Float(x))) : Self(_tanh(Double(x)))
  }

  /// The error function.
  @inlinable @inline(__always)
  package static func erf(_ x: Self) -> Self {
    Self.self == Float.self ? Self(erff(Float(x))) : Self(_erf(Double(x)))
  }

  /// Any other function of the C library, computed in double precision.
  @inlinable @inline(__always)
  package static func apply(_ function: (Double) -> Double, _ x: Self) -> Self {
    Self(function(Double(x)))
  }

  @inlinable @inline(__always)
  package static func pow(_ x: Self, _ y: Self) -> Self {
    Self.self == Float.self
      ? Self(powf(Float(x), Float(y))) : Self(_pow(Double(x), Double(y)))
  }
}

// Inside the extension `exp` and its like mean the static members; these reach the C library's.
@usableFromInline @inline(__always)
func _exp(_ x: Double) -> Double { exp(x) }
@usableFromInline @inline(__always)
func _log(_ x: Double) -> Double { log(x) }
@usableFromInline @inline(__always)
func _tanh(_ x: Double) -> Double { tanh(x) }
@usableFromInline @inline(__always)
func _erf(_ x: Double) -> Double { erf(x) }
@usableFromInline @inline(__always)
func _pow(_ x: Double, _ y: Double) -> Double { pow(x, y) }
