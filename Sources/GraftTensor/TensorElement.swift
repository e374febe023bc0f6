/// A Swift type that can be a tensor's element.
public protocol TensorElement: Sendable {
  /// The element type it stands for.
  static var elementType: ElementType { get }
  /// The value that fresh tensors hold.
  static var zero: Self { get }
}

extension Float: TensorElement { public static var elementType: ElementType { .float32 } }
extension Double: TensorElement { public static var elementType: ElementType { .float64 } }
extension Int64: TensorElement { public static var elementType: ElementType { .int64 } }
extension Int32: TensorElement { public static var elementType: ElementType { .int32 } }
extension Int16: TensorElement { public static var elementType: ElementType { .int16 } }
extension Int8: TensorElement { public static var elementType: ElementType { .int8 } }
extension UInt64: TensorElement { public static var elementType: ElementType { .uint64 } }
extension UInt32: TensorElement { public static var elementType: ElementType { .uint32 } }
extension UInt16: TensorElement { public static var elementType: ElementType { .uint16 } }
extension UInt8: TensorElement { public static var elementType: ElementType { .uint8 } }
extension Bool: TensorElement {
  public static var elementType: ElementType { .bool }
  public static var zero: Bool { false }
}

/// An element type that arithmetic is defined on: float32, float64, int64, int32, int8, uint8.
///
/// Integers wrap around on overflow, as in ONNX Runtime; a division by zero gives zero.
public protocol NumericElement: TensorElement, Comparable {
  static func wrappingSum(_ a: Self, _ b: Self) -> Self
  static func wrappingDifference(_ a: Self, _ b: Self) -> Self
  static func wrappingProduct(_ a: Self, _ b: Self) -> Self
  /// The quotient, towards zero for integers.
  static func quotient(_ a: Self, _ b: Self) -> Self
  /// The value as a double; exact up to 2^53.
  var double: Double { get }
  /// The nearest value, saturated at the type's range; NaN becomes 0 for integers.
  init(saturating value: Double)
  /// The smallest value: minus infinity for floating-point types.
  static var lowest: Self { get }
  /// The largest value: infinity for floating-point types.
  static var highest: Self { get }
}

/// An element type with transcendental functions: float32, float64.
public protocol FloatingElement: NumericElement, BinaryFloatingPoint, SIMDScalar, Codable {}

extension FloatingElement {
  @inlinable @inline(__always)
  public static func wrappingSum(_ a: Self, _ b: Self) -> Self { a + b }
  @inlinable @inline(__always)
  public static func wrappingDifference(_ a: Self, _ b: Self) -> Self { a - b }
  @inlinable @inline(__always)
  public static func wrappingProduct(_ a: Self, _ b: Self) -> Self { a * b }
  @inlinable @inline(__always)
  public static func quotient(_ a: Self, _ b: Self) -> Self { a / b }
  @inlinable @inline(__always)
  public var double: Double { Double(self) }
  @inlinable @inline(__always)
  public init(saturating value: Double) { self.init(value) }
  @inlinable @inline(__always)
  public static var lowest: Self { -.infinity }
  @inlinable @inline(__always)
  public static var highest: Self { .infinity }
}

extension Float: FloatingElement {}
extension Double: FloatingElement {}

extension NumericElement where Self: FixedWidthInteger {
  @inlinable @inline(__always)
  public static func wrappingSum(_ a: Self, _ b: Self) -> Self { a &+ b }
  @inlinable @inline(__always)
  public static func wrappingDifference(_ a: Self, _ b: Self) -> Self { a &- b }
  @inlinable @inline(__always)
  public static func wrappingProduct(_ a: Self, _ b: Self) -> Self { a &* b }
  @inlinable @inline(__always)
  public static func quotient(_ a: Self, _ b: Self) -> Self {
    b == 0 ? 0 : a.dividedReportingOverflow(by: b).partialValue
  }
  @inlinable @inline(__always)
  public var double: Double { Double(self) }
  @inlinable @inline(__always)
  public init(saturating value: Double) {
    if value.isNaN {
      self = 0
    } else if value >= Double(Self.max) {
      self = .max
    } else if value <= Double(Self.min) {
      self = .min
    } else {
      self = Self(value)
    }
  }
  @inlinable @inline(__always)
  public static var lowest: Self { .min }
  @inlinable @inline(__always)
  public static var highest: Self { .max }
}

extension Int64: NumericElement {}
extension Int32: NumericElement {}
extension Int8: NumericElement {}
extension UInt8: NumericElement {}
