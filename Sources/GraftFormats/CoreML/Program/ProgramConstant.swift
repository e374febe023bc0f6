import GraftDiagnostics
import GraftTensor

/// A constant of an ML program: numbers, or strings.
///
/// float16 and float64 become float32, whole numbers int64; truth values stay. Codes of few bits stay
/// what they are, as uint8 or int8.
enum ProgramConstant {
  case numbers(Tensor)
  case strings([String])

  /// - Parameter keepsCodes: whether whole numbers of one byte or less stay as they are.
  init(_ value: CoreMLMessage, _ files: ProgramWeightFiles?, keepsCodes: Bool = false) throws {
    let type = try value.message(2)
    if type.has(2) {
      self = .strings(try Self.list(value))
      return
    }
    guard type.has(1) else { throw GraftError(.unsupported, "constants of dictionaries or tuples") }
    let tensorType = try type.message(1)
    let number = try tensorType.int(1)
    let shape = Shape(
      try tensorType.messages(3).map { dimension in
        guard dimension.has(1) else {
          throw GraftError(.damaged, "a constant has an axis of unknown size")
        }
        return try dimension.message(1).int(1)
      })
    let count = try shape.checkedElementCount()
    if number == Self.stringType {
      let tensor = try value.message(3).message(1).message(4)
      self = .strings(try tensor.strings(1))
      return
    }
    let stored =
      value.has(5)
      ? try Self.fromFile(try value.message(5), number, shape, count, files)
      : try Self.immediate(try value.message(3).message(1), number, shape, count)
    self = .numbers(keepsCodes ? stored : try stored.widened())
  }

  private static let stringType = 2
  /// Bits of the types of few bits, by the format's number.
  private static let subByteBits = [35: 4, 25: 4, 36: 2, 37: 1, 38: 6, 39: 3]
  private static let elementTypes: [Int: ElementType] = [
    1: .bool, 10: .float16, 11: .float32, 12: .float64, 21: .int8, 22: .int16, 23: .int32,
    24: .int64, 31: .uint8, 32: .uint16, 33: .uint32, 34: .uint64,
  ]

  private static func list(_ value: CoreMLMessage) throws -> [String] {
    try value.message(3).message(3).messages(1).flatMap { element in
      try element.message(3).message(1).message(4).strings(1)
    }
  }

  /// Numbers behind an entry of a weight file: a mark, a type, the byte count and where they begin.
  private static func fromFile(
    _ message: CoreMLMessage, _ number: Int, _ shape: Shape, _ count: Int,
    _ files: ProgramWeightFiles?
  ) throws -> Tensor {
    guard let files else {
      throw GraftError(.damaged, "its weights lie in a file, and there is none")
    }
    let file = try files.file(try message.string(1))
    let offset = try message.int(2)
    let bytes = file.bytes
    guard offset >= 0, offset <= bytes.count - 64 else {
      throw GraftError(.damaged, "its weights begin at byte \(offset) of \(bytes.count)")
    }
    func field<T: FixedWidthInteger>(_ place: Int, _ type: T.Type) -> T {
      T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + place, as: type))
    }
    let (size, start) = (field(8, UInt64.self), field(16, UInt64.self))
    guard field(0, UInt32.self) == 0xDEAD_BEEF, start <= UInt64(bytes.count),
      size <= UInt64(bytes.count) - start
    else { throw GraftError(.damaged, "there are no weights at byte \(offset) of the weight file") }
    let part = UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(size)])
    if let bits = subByteBits[number] {
      return try codes(part, bits: bits, shape, count, isSigned: number == 25)
    }
    return try Tensor(
      borrowing: part, try elementType(number), shape: shape, owner: file)
  }

  /// Codes packed with the lowest bit first, one byte each.
  static func codes(
    _ bytes: UnsafeRawBufferPointer, bits: Int, _ shape: Shape, _ count: Int, isSigned: Bool = false
  ) throws -> Tensor {
    let (bitCount, overflow) = count.multipliedReportingOverflow(by: bits)
    guard !overflow, bytes.count >= (bitCount + 7) / 8 else {
      throw GraftError(.damaged, "\(bytes.count) bytes for \(count) codes of \(bits) bits")
    }
    let mask = (1 << bits) - 1
    let values = (0..<count).map { index -> UInt8 in
      let position = index * bits
      let next = position / 8 + 1 < bytes.count ? Int(bytes[position / 8 + 1]) : 0
      let window = Int(bytes[position / 8]) | next << 8
      return UInt8(window >> (position % 8) & mask)
    }
    guard isSigned else { return try Tensor(values, shape: shape) }
    let half = 1 << (bits - 1)
    return try Tensor(
      values.map { Int8(Int($0) < half ? Int($0) : Int($0) - 2 * half) }, shape: shape)
  }

  private static func elementType(_ number: Int) throws -> ElementType {
    try elementTypes[number].orThrow {
      GraftError(.unsupported, "constants of the element type number \(number)")
    }
  }

  /// Numbers in the program itself.
  private static func immediate(
    _ message: CoreMLMessage, _ number: Int, _ shape: Shape, _ count: Int
  ) throws -> Tensor {
    if message.has(7), let bytes = try message.message(7).bytes(1) {
      if let bits = subByteBits[number] {
        return try codes(bytes, bits: bits, shape, count, isSigned: number == 25)
      }
      let tensor = try Tensor(uninitialized: shape, try elementType(number))
      guard tensor.byteCount == bytes.count else {
        throw GraftError(.damaged, "\(bytes.count) bytes for a constant of \(tensor.byteCount)")
      }
      if let start = bytes.baseAddress {
        tensor.mutableBytes.copyMemory(from: start, byteCount: bytes.count)
      }
      return tensor
    }
    func complete<T: TensorElement>(_ values: [T], zero: T) throws -> Tensor {
      // Fields of zeros only may be left out.
      try Tensor(
        values.isEmpty ? Array(repeating: zero, count: min(count, 1 << 24)) : values, shape: shape)
    }
    if message.has(1) { return try complete(try message.message(1).floats(1), zero: 0) }
    if message.has(6) { return try complete(try message.message(6).doubles(1), zero: 0) }
    if message.has(3) { return try complete(try message.message(3).bools(1), zero: false) }
    if message.has(5) {
      return try complete(try message.message(5).ints(1).map(Int64.init), zero: 0)
    }
    if message.has(2) {
      return try complete(try message.message(2).ints(1).map(Int64.init), zero: 0)
    }
    if number == 1 { return try complete([Bool](), zero: false) }
    return (10...12).contains(number)
      ? try complete([Float](), zero: 0) : try complete([Int64](), zero: 0)
  }
}

extension Tensor {
  /// Floats as float32, whole numbers as int64.
  func widened() throws -> Tensor {
    switch elementType {
    case .float32, .int64, .bool: self
    case .float16:
      try Tensor(withUnsafeBytes { CoreMLWeights.halves($0) }, shape: shape)
    case .float64: try Tensor(try values(as: Double.self).map { Float($0) }, shape: shape)
    default: try Tensor(try integerElements().map(Int64.init), shape: shape)
    }
  }

  /// The elements of any whole-number type.
  func integerElements() throws -> [Int] {
    switch elementType {
    case .int8: try values(as: Int8.self).map(Int.init)
    case .uint8: try values(as: UInt8.self).map(Int.init)
    case .int16: try values(as: Int16.self).map(Int.init)
    case .uint16: try values(as: UInt16.self).map(Int.init)
    case .int32: try values(as: Int32.self).map(Int.init)
    case .uint32: try values(as: UInt32.self).map(Int.init)
    case .int64: try values(as: Int64.self).map(Int.init)
    case .uint64: try values(as: UInt64.self).map { Int(truncatingIfNeeded: $0) }
    case .bool: try values(as: Bool.self).map { $0 ? 1 : 0 }
    default: throw GraftError(.typeMismatch, "\(elementType) where whole numbers are expected")
    }
  }

  /// The elements of any type as floats.
  func floats() throws -> [Float] {
    switch elementType {
    case .float32: try values(as: Float.self)
    case .float64: try values(as: Double.self).map { Float($0) }
    case .float16: withUnsafeBytes { CoreMLWeights.halves($0) }
    default: try integerElements().map { Float($0) }
    }
  }
}
