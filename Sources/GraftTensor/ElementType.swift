/// The type of a tensor's elements; the raw value is ONNX's number for it (`TensorProto.DataType`).
public enum ElementType: Int, Sendable, Hashable, CaseIterable {
  case float32 = 1
  case uint8 = 2
  case int8 = 3
  case uint16 = 4
  case int16 = 5
  case int32 = 6
  case int64 = 7
  case string = 8
  case bool = 9
  case float16 = 10
  case float64 = 11
  case uint32 = 12
  case uint64 = 13
  case complex64 = 14
  case complex128 = 15
  case bfloat16 = 16
  case float8e4m3fn = 17
  case float8e4m3fnuz = 18
  case float8e5m2 = 19
  case float8e5m2fnuz = 20
  case uint4 = 21
  case int4 = 22
  case float4e2m1 = 23

  /// Bits of one element; 0 for strings, which have no fixed size.
  public var bitWidth: Int {
    switch self {
    case .string: 0
    case .uint4, .int4, .float4e2m1: 4
    case .uint8, .int8, .bool, .float8e4m3fn, .float8e4m3fnuz, .float8e5m2, .float8e5m2fnuz: 8
    case .uint16, .int16, .float16, .bfloat16: 16
    case .float32, .int32, .uint32: 32
    case .float64, .int64, .uint64, .complex64: 64
    case .complex128: 128
    }
  }

  /// Bytes that `count` elements take, half-byte types packed two to a byte; nil on overflow.
  public func byteCount(elements count: Int) -> Int? {
    let (bits, overflow) = count.multipliedReportingOverflow(by: bitWidth)
    return overflow || count < 0 ? nil : bits / 8 + (bits % 8 == 0 ? 0 : 1)
  }

  /// The alignment in bytes that a typed pointer needs.
  package var alignment: Int {
    switch self {
    case .complex64: 4
    default: max(1, min(8, bitWidth / 8))
    }
  }

  /// Whether gradients flow through values of this type.
  public var isFloatingPoint: Bool {
    switch self {
    case .float32, .float64, .float16, .bfloat16: true
    default: false
    }
  }
}
