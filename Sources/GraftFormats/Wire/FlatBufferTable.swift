import GraftDiagnostics

/// One table of a FlatBuffer. Fields are named by their number in the schema, counted from 0; one
/// that the file leaves out has its default.
package struct FlatBufferTable {
  private let buffer: FlatBufferBytes
  /// Where the table starts in the file.
  package let position: Int
  private let byteCount: Int
  /// Where the offsets of its fields start, and how many there are.
  private let offsets: Int
  private let fieldCount: Int
  private let depth: Int

  init(_ buffer: FlatBufferBytes, at position: Int, depth: Int) throws {
    guard depth < FlatBufferReader.depthLimit else {
      throw buffer.damaged(
        "tables lie more than \(FlatBufferReader.depthLimit) deep in each other", position)
    }
    let vtable = position - Int(try buffer.number(position, Int32.self))
    let vtableByteCount = Int(try buffer.number(vtable, UInt16.self))
    try buffer.require(vtable, vtableByteCount)
    guard vtableByteCount >= 4, vtableByteCount % 2 == 0 else {
      throw buffer.damaged("a table cannot have field offsets of \(vtableByteCount) bytes", vtable)
    }
    byteCount = Int(try buffer.number(vtable + 2, UInt16.self))
    try buffer.require(position, byteCount)
    try buffer.charge(max(4, byteCount), position)
    self.buffer = buffer
    self.position = position
    self.depth = depth
    offsets = vtable + 4
    fieldCount = (vtableByteCount - 4) / 2
  }

  /// Whether the file has a value for the field.
  package func has(_ field: Int) throws -> Bool { try place(field, width: 0) != nil }

  // MARK: Scalars

  package func integer<Number: FixedWidthInteger>(
    _ field: Int, _ type: Number.Type = Number.self, default defaultValue: Number = 0
  ) throws -> Number {
    guard let place = try place(field, width: MemoryLayout<Number>.size) else {
      return defaultValue
    }
    return try buffer.number(place, type)
  }

  package func bool(_ field: Int, default defaultValue: Bool = false) throws -> Bool {
    try integer(field, UInt8.self, default: defaultValue ? 1 : 0) != 0
  }

  package func float(_ field: Int, default defaultValue: Float = 0) throws -> Float {
    Float(bitPattern: try integer(field, UInt32.self, default: defaultValue.bitPattern))
  }

  package func double(_ field: Int, default defaultValue: Double = 0) throws -> Double {
    Double(bitPattern: try integer(field, UInt64.self, default: defaultValue.bitPattern))
  }

  // MARK: What lies elsewhere

  /// A table; nil when the file has none. A union's value is one as well.
  package func table(_ field: Int) throws -> FlatBufferTable? {
    try target(field).map { try FlatBufferTable(buffer, at: $0, depth: depth + 1) }
  }

  /// A list of tables; empty when the file has none.
  package func tables(_ field: Int) throws -> [FlatBufferTable] {
    try targets(field).map { try FlatBufferTable(buffer, at: $0, depth: depth + 1) }
  }

  /// - Throws: `damaged` also when the bytes are no UTF-8.
  package func string(_ field: Int) throws -> String? { try target(field).map(text) }

  /// A list of strings; empty when the file has none.
  package func strings(_ field: Int) throws -> [String] { try targets(field).map(text) }

  /// The bytes of a list of bytes, where they lie; nil when the file has none.
  package func bytes(_ field: Int) throws -> UnsafeRawBufferPointer? {
    try target(field).map { try buffer.vector($0, width: 1) }
  }

  /// The bytes of a list of structures of `width` bytes, where they lie; nil when the file has none.
  package func structures(_ field: Int, width: Int) throws -> UnsafeRawBufferPointer? {
    guard width > 0 else { return nil }
    return try target(field).map { try buffer.vector($0, width: width) }
  }

  /// A list of integers; nil when the file has none.
  package func integers<Number: FixedWidthInteger>(_ field: Int, _ type: Number.Type) throws
    -> [Number]?
  {
    let width = MemoryLayout<Number>.size
    guard let bytes = try structures(field, width: width) else { return nil }
    var numbers: [Number] = []
    for offset in stride(from: 0, to: bytes.count, by: width) {
      numbers.append(
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)))
    }
    return numbers
  }

  /// A list of floats; nil when the file has none.
  package func floats(_ field: Int) throws -> [Float]? {
    try integers(field, UInt32.self)?.map { Float(bitPattern: $0) }
  }

  // MARK: Places

  private func text(_ position: Int) throws -> String {
    guard let text = String(validating: try buffer.vector(position, width: 1), as: UTF8.self) else {
      throw buffer.damaged("a name or text is no UTF-8", position)
    }
    return text
  }

  /// Where the field's value lies, if the file has one.
  private func place(_ field: Int, width: Int) throws -> Int? {
    guard field >= 0, field < fieldCount else { return nil }
    let offset = Int(try buffer.number(offsets + 2 * field, UInt16.self))
    guard offset != 0 else { return nil }
    guard offset >= 4, offset <= byteCount - width else {
      throw buffer.damaged(
        "field \(field) lies at \(offset) in a table of \(byteCount) bytes", position)
    }
    return position + offset
  }

  private func target(_ field: Int) throws -> Int? {
    try place(field, width: 4).map(buffer.target)
  }

  private func targets(_ field: Int) throws -> [Int] {
    guard let list = try target(field) else { return [] }
    let elements = try buffer.vector(list, width: 4)
    return try stride(from: 0, to: elements.count, by: 4).map { try buffer.target(list + 4 + $0) }
  }
}
