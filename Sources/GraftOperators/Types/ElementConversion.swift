import GraftGraph
import GraftTensor

/// An element as it lies in memory, with conversions from and to every other type.
protocol ConvertibleElement {
  /// The nearest value; for integers cut off towards zero.
  init(real: Double)
  /// The nearest value; for integers the low bits.
  init<I: FixedWidthInteger>(integer: I)
  func converted<Target: ConvertibleElement>(to: Target.Type) -> Target
}

extension ConvertibleElement where Self: BinaryFloatingPoint {
  @inline(__always)
  init(real: Double) { self.init(real) }
  @inline(__always)
  init<I: FixedWidthInteger>(integer: I) { self.init(integer) }
  @inline(__always)
  func converted<Target: ConvertibleElement>(to: Target.Type) -> Target {
    Target(real: Double(self))
  }
}

extension Float: ConvertibleElement {}
extension Double: ConvertibleElement {}
extension Float16: ConvertibleElement {}

extension ConvertibleElement where Self: FixedWidthInteger {
  @inline(__always)
  init<I: FixedWidthInteger>(integer: I) { self.init(truncatingIfNeeded: integer) }
  @inline(__always)
  func converted<Target: ConvertibleElement>(to: Target.Type) -> Target { Target(integer: self) }

  /// Narrow types take the low bits of the 32-bit integer, as ONNX Runtime does.
  @inline(__always)
  init(real: Double) { self.init(truncatingIfNeeded: Int32(real: real)) }
}

extension Int8: ConvertibleElement {}
extension UInt8: ConvertibleElement {}
extension Int16: ConvertibleElement {}
extension UInt16: ConvertibleElement {}

extension Int32: ConvertibleElement {
  /// The lowest value stands for all that the type cannot hold, and for NaN.
  @inline(__always)
  init(real: Double) { self = real > -0x1p31 - 1 && real < 0x1p31 ? Int32(real) : .min }
}

extension UInt32: ConvertibleElement {
  @inline(__always)
  init(real: Double) { self.init(truncatingIfNeeded: Int64(real: real)) }
}

extension Int64: ConvertibleElement {
  /// The lowest value stands for all that the type cannot hold, and for NaN.
  @inline(__always)
  init(real: Double) { self = real >= -0x1p63 && real < 0x1p63 ? Int64(real) : .min }
}

extension UInt64: ConvertibleElement {
  @inline(__always)
  init(real: Double) {
    self = real >= 0x1p63 && real < 0x1p64 ? UInt64(real) : UInt64(bitPattern: Int64(real: real))
  }
}

/// The upper half of a float32.
struct BFloat16: ConvertibleElement {
  var bitPattern: UInt16

  @inline(__always)
  init(real: Double) {
    let bits = Float(real).bitPattern
    // Rounds to the nearest, to even between two; a NaN keeps a set bit.
    bitPattern =
      real.isNaN
      ? UInt16(truncatingIfNeeded: bits >> 16) | 0x40
      : UInt16(truncatingIfNeeded: (bits &+ 0x7FFF &+ ((bits >> 16) & 1)) >> 16)
  }

  @inline(__always)
  init<I: FixedWidthInteger>(integer: I) { self.init(real: Double(integer)) }

  @inline(__always)
  func converted<Target: ConvertibleElement>(to: Target.Type) -> Target {
    Target(real: Double(Float(bitPattern: UInt32(bitPattern) << 16)))
  }
}

/// A truth value: true for every byte but 0, since a file's bool need not be 0 or 1.
struct TruthByte: ConvertibleElement {
  var byte: UInt8

  @inline(__always)
  init(real: Double) { byte = real != 0 ? 1 : 0 }

  @inline(__always)
  init<I: FixedWidthInteger>(integer: I) { byte = integer != 0 ? 1 : 0 }

  @inline(__always)
  func converted<Target: ConvertibleElement>(to: Target.Type) -> Target {
    Target(integer: byte != 0 ? 1 as UInt8 : 0)
  }
}

extension ElementType {
  /// The types that `KernelContext.convertElements` knows.
  static let convertible: Set<ElementType> = [
    .float32, .float64, .float16, .bfloat16, .int64, .int32, .int16, .int8, .uint64, .uint32,
    .uint16, .uint8, .bool,
  ]
}

extension KernelContext {
  /// Fills output 0 with input 0's elements, converted to its type.
  func convertElements() throws {
    let type = try input(0).elementType
    if try type == output(0).elementType { return try copyElements() }
    switch type {
    case .float32: try convert(from: Float.self)
    case .float64: try convert(from: Double.self)
    case .float16: try convert(from: Float16.self)
    case .bfloat16: try convert(from: BFloat16.self)
    case .int64: try convert(from: Int64.self)
    case .int32: try convert(from: Int32.self)
    case .int16: try convert(from: Int16.self)
    case .int8: try convert(from: Int8.self)
    case .uint64: try convert(from: UInt64.self)
    case .uint32: try convert(from: UInt32.self)
    case .uint16: try convert(from: UInt16.self)
    case .uint8: try convert(from: UInt8.self)
    case .bool: try convert(from: TruthByte.self)
    default: throw unsupportedElementType(type)
    }
  }

  private func convert<Source: ConvertibleElement>(from source: Source.Type) throws {
    switch try output(0).elementType {
    case .float32: try convert(source, to: Float.self)
    case .float64: try convert(source, to: Double.self)
    case .float16: try convert(source, to: Float16.self)
    case .bfloat16: try convert(source, to: BFloat16.self)
    case .int64: try convert(source, to: Int64.self)
    case .int32: try convert(source, to: Int32.self)
    case .int16: try convert(source, to: Int16.self)
    case .int8: try convert(source, to: Int8.self)
    case .uint64: try convert(source, to: UInt64.self)
    case .uint32: try convert(source, to: UInt32.self)
    case .uint16: try convert(source, to: UInt16.self)
    case .uint8: try convert(source, to: UInt8.self)
    case .bool: try convert(source, to: TruthByte.self)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func convert<Source: ConvertibleElement, Target: ConvertibleElement>(
    _ source: Source.Type, to target: Target.Type
  ) throws {
    let x = try inputUnits(0, as: source)
    let y = try outputUnits(0, as: target)
    parallel(try output(0).elementCount, cost: 2) { range in
      for i in range { y[i] = x[i].converted(to: target) }
    }
  }
}
