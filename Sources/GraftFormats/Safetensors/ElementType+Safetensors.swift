import GraftTensor

extension ElementType {
  /// The name of the type in a safetensors header; nil for types that the format lacks.
  var safetensorsName: String? {
    switch self {
    case .float64: "F64"
    case .float32: "F32"
    case .float16: "F16"
    case .bfloat16: "BF16"
    case .int64: "I64"
    case .int32: "I32"
    case .int16: "I16"
    case .int8: "I8"
    case .uint64: "U64"
    case .uint32: "U32"
    case .uint16: "U16"
    case .uint8: "U8"
    case .bool: "BOOL"
    case .complex64: "C64"
    case .float8e4m3fn: "F8_E4M3"
    case .float8e4m3fnuz: "F8_E4M3FNUZ"
    case .float8e5m2: "F8_E5M2"
    case .float8e5m2fnuz: "F8_E5M2FNUZ"
    case .float4e2m1: "F4"
    case .string, .complex128, .uint4, .int4: nil
    }
  }

  init?(safetensorsName name: String) {
    guard let type = Self.allCases.first(where: { $0.safetensorsName == name }) else { return nil }
    self = type
  }
}
