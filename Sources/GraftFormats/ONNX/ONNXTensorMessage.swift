import GraftDiagnostics
import GraftTensor

/// The fields of a tensor's message, before its element type tells which of them holds the values.
struct ONNXTensorMessage {
  var name = ""
  var dimensions: [Int] = []
  var elementType = 0
  var isSegment = false
  var raw: UnsafeRawBufferPointer?
  var strings: [ProtobufField] = []
  /// Keys and values that say where the elements are in another file.
  var externalData: [String: String] = [:]
  var isExternal = false
  /// The typed lists by field number.
  private var lists: [Int: [ProtobufField]] = [:]

  init(_ message: ProtobufReader, reader: ONNXReader) throws {
    var message = message
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Tensor.dimensions: try field.appendInts(to: &dimensions)
      case ONNXField.Tensor.elementType: elementType = try field.int()
      case ONNXField.Tensor.segment: isSegment = true
      case ONNXField.Tensor.name: name = try field.string()
      case ONNXField.Tensor.raw: raw = try field.bytes()
      case ONNXField.Tensor.strings: strings.append(field)
      case ONNXField.Tensor.externalData:
        let (key, value) = try reader.entry(try field.message())
        externalData[key] = value
      case ONNXField.Tensor.location: isExternal = try field.int() == 1
      case ONNXField.Tensor.floats, ONNXField.Tensor.int32s, ONNXField.Tensor.int64s,
        ONNXField.Tensor.doubles, ONNXField.Tensor.uint64s:
        lists[field.number, default: []].append(field)
      default: break
      }
    }
  }

  /// The values out of the typed list that belongs to the element type.
  ///
  /// Floats and doubles that lie in one piece are borrowed from `owner`, all others decoded.
  func decodeNumbers(_ type: ElementType, _ shape: Shape, owner: AnyObject) throws -> Tensor {
    switch type {
    case .float32, .complex64:
      return try fixed(ONNXField.Tensor.floats, width: 4, type, shape, owner)
    case .float64, .complex128:
      return try fixed(ONNXField.Tensor.doubles, width: 8, type, shape, owner)
    case .int64: return try varints(ONNXField.Tensor.int64s, UInt64.self, type, shape)
    case .uint64: return try varints(ONNXField.Tensor.uint64s, UInt64.self, type, shape)
    case .uint32: return try varints(ONNXField.Tensor.uint64s, UInt32.self, type, shape)
    case .int32: return try varints(ONNXField.Tensor.int32s, UInt32.self, type, shape)
    case .int16, .uint16, .float16, .bfloat16:
      return try varints(ONNXField.Tensor.int32s, UInt16.self, type, shape)
    case .bool:
      return try varints(ONNXField.Tensor.int32s, UInt8.self, type, shape) { $0 == 0 ? 0 : 1 }
    case .int8, .uint8, .float8e4m3fn, .float8e4m3fnuz, .float8e5m2, .float8e5m2fnuz,
      .int4, .uint4, .float4e2m1:
      return try varints(ONNXField.Tensor.int32s, UInt8.self, type, shape)
    case .string: throw GraftError(.internalFault, "strings are decoded as numbers")
    }
  }

  private func fixed(
    _ number: Int, width: Int, _ type: ElementType, _ shape: Shape, _ owner: AnyObject
  ) throws -> Tensor {
    let fields = lists[number] ?? []
    if fields.count == 1, let bytes = fields[0].packedBytes {
      return try Tensor(borrowing: bytes, type, shape: shape, owner: owner)
    }
    var values: [UInt8] = []
    for field in fields { try field.withFixed(width: width) { values += $0 } }
    try check(values.count / width, against: try Tensor.byteCount(shape, type) / width, type, shape)
    let tensor = try Tensor(uninitialized: shape, type)
    values.withUnsafeBytes { source in
      if let start = source.baseAddress {
        tensor.mutableBytes.copyMemory(from: start, byteCount: source.count)
      }
    }
    return tensor
  }

  private func varints<Unit: FixedWidthInteger>(
    _ number: Int, _ unit: Unit.Type, _ type: ElementType, _ shape: Shape,
    convert: (UInt64) -> Unit = { Unit(truncatingIfNeeded: $0) }
  ) throws -> Tensor {
    let wanted = try Tensor.byteCount(shape, type) / MemoryLayout<Unit>.size
    var values: [Unit] = []
    for field in lists[number] ?? [] {
      try field.forEachVarint { values.append(convert($0)) }
    }
    try check(values.count, against: wanted, type, shape)
    let tensor = try Tensor(uninitialized: shape, type)
    for (index, value) in values.enumerated() {
      tensor.mutableBytes.storeBytes(
        of: value.littleEndian, toByteOffset: index * MemoryLayout<Unit>.size, as: Unit.self)
    }
    return tensor
  }

  private func check(_ found: Int, against wanted: Int, _ type: ElementType, _ shape: Shape) throws
  {
    guard found == wanted else {
      throw GraftError(
        .damaged, "\(found) values are stored; \(type) elements of shape \(shape) take \(wanted)")
    }
  }
}
