import GraftDiagnostics

/// Reads the fields of one protobuf message in the order they are stored, without copying.
///
/// The bytes must stay valid while the reader and its fields are in use. Every length is checked, so
/// that any bytes give fields or an error (`damaged`, with the byte's offset in the file). Fields
/// that nobody asks about are skipped. Groups, which protobuf gave up long ago, are refused.
///
/// Source: https://protobuf.dev/programming-guides/encoding
package struct ProtobufReader {
  /// How deep messages may lie in each other.
  static let depthLimit = 100

  private let bytes: UnsafeRawBufferPointer
  /// Where the message starts in the file.
  private let start: Int
  private let depth: Int
  private var position = 0

  /// Reads the outermost message.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.init(bytes, start: 0, depth: 0)
  }

  fileprivate init(_ bytes: UnsafeRawBufferPointer, start: Int, depth: Int) {
    self.bytes = bytes
    self.start = start
    self.depth = depth
  }

  /// The next field; nil at the message's end.
  package mutating func next() throws -> ProtobufField? {
    guard position < bytes.count else { return nil }
    let keyOffset = start + position
    let key = try varint()
    let number = key >> 3
    guard number >= 1, number < 1 << 29 else {
      throw damaged("\(number) is no field number", keyOffset)
    }
    let offset = start + position
    return ProtobufField(
      number: Int(number), value: try value(wireType: key & 7, keyOffset), offset: offset,
      depth: depth)
  }

  private mutating func value(wireType: UInt64, _ keyOffset: Int) throws -> ProtobufField.Value {
    switch wireType {
    case 0: return .varint(try varint())
    case 1: return .fixed64(try fixed(UInt64.self))
    case 2:
      let count = try varint()
      guard count <= UInt64(bytes.count - position) else {
        throw damaged(
          "\(count) bytes are announced and \(bytes.count - position) are there", keyOffset)
      }
      return .bytes(take(Int(count)))
    case 5: return .fixed32(try fixed(UInt32.self))
    default: throw damaged("\(wireType) is no wire type in use", keyOffset)
    }
  }

  private mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  private mutating func fixed<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    guard bytes.count - position >= MemoryLayout<T>.size else {
      throw damaged("the message ends inside a number", start + position)
    }
    defer { position += MemoryLayout<T>.size }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
  }

  private mutating func varint() throws -> UInt64 {
    guard let value = readVarint(bytes, &position) else {
      throw damaged("a number does not end", start + position)
    }
    return value
  }

  private func damaged(_ what: String, _ offset: Int) -> GraftError {
    GraftError(.damaged, what, at: ["byte \(offset)"])
  }
}

/// One field of a message: its number and its value, to be taken as what the caller knows it is.
package struct ProtobufField {
  fileprivate enum Value {
    case varint(UInt64)
    case fixed32(UInt32)
    case fixed64(UInt64)
    case bytes(UnsafeRawBufferPointer)
  }

  package let number: Int
  fileprivate let value: Value
  /// Where the value is in the file.
  fileprivate let offset: Int
  fileprivate let depth: Int

  /// An integer, enumeration value or Boolean.
  package func int() throws -> Int {
    guard case .varint(let value) = value else { throw wrongKind("an integer") }
    return Int(truncatingIfNeeded: value)
  }

  package func float() throws -> Float {
    guard case .fixed32(let bits) = value else { throw wrongKind("a float") }
    return Float(bitPattern: bits)
  }

  package func bytes() throws -> UnsafeRawBufferPointer {
    guard case .bytes(let bytes) = value else { throw wrongKind("bytes") }
    return bytes
  }

  /// Text; what is no UTF-8 becomes the replacement character.
  package func string() throws -> String {
    String(decoding: try bytes(), as: UTF8.self)
  }

  package func message() throws -> ProtobufReader {
    let bytes = try bytes()
    guard depth < ProtobufReader.depthLimit else {
      throw GraftError(
        .damaged, "messages lie more than \(ProtobufReader.depthLimit) deep in each other",
        at: ["byte \(offset)"])
    }
    return ProtobufReader(bytes, start: offset, depth: depth + 1)
  }

  /// Calls `body` with every integer of a repeated field, packed or not.
  package func forEachVarint(_ body: (UInt64) throws -> Void) throws {
    switch value {
    case .varint(let value): try body(value)
    case .bytes(let bytes):
      var position = 0
      while position < bytes.count {
        guard let value = readVarint(bytes, &position) else {
          throw GraftError(
            .damaged, "a number does not end", at: ["byte \(offset + position)"])
        }
        try body(value)
      }
    default: throw wrongKind("integers")
    }
  }

  package func appendInts(to list: inout [Int]) throws {
    try forEachVarint { list.append(Int(truncatingIfNeeded: $0)) }
  }

  package func appendFloats(to list: inout [Float]) throws {
    try withFixed(width: 4) { bytes in
      for offset in stride(from: 0, to: bytes.count, by: 4) {
        list.append(Float(bitPattern: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      }
    }
  }

  /// Calls `body` with the little-endian bytes of a repeated field of `width` (4 or 8) bytes each,
  /// packed or not.
  package func withFixed(width: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch value {
    case .fixed32(let bits) where width == 4:
      try Swift.withUnsafeBytes(of: bits.littleEndian, body)
    case .fixed64(let bits) where width == 8:
      try Swift.withUnsafeBytes(of: bits.littleEndian, body)
    case .bytes(let bytes) where bytes.count % width == 0: try body(bytes)
    default: throw wrongKind("numbers of \(width) bytes")
    }
  }

  /// The bytes when the field is length-delimited, as packed lists are; nil otherwise.
  package var packedBytes: UnsafeRawBufferPointer? {
    if case .bytes(let bytes) = value { bytes } else { nil }
  }

  private func wrongKind(_ wanted: String) -> GraftError {
    GraftError(
      .damaged, "field \(number) does not hold \(wanted)", at: ["byte \(offset)"])
  }
}

/// The number at `position`, which moves behind it; nil when the bytes end first or the number has
/// more than 64 bits.
private func readVarint(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> UInt64? {
  var value: UInt64 = 0
  var shift: UInt64 = 0
  while position < bytes.count {
    let byte = bytes[position]
    position += 1
    guard shift < 63 || byte <= 1 else { return nil }
    value |= UInt64(byte & 0x7F) << shift
    if byte < 0x80 { return value }
    shift += 7
  }
  return nil
}
