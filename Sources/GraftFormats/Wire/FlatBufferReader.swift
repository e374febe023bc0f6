import GraftDiagnostics

/// A FlatBuffer: tables whose fields are found through offsets, read where they lie.
///
/// The bytes must stay valid while tables of the buffer are in use. Every offset and length is
/// checked, so that any bytes give values or an error (`damaged`, with the byte's offset in the
/// file). Tables may lie `depthLimit` deep in each other, and what is read in all may be four times
/// as long as the buffer: offsets that lead to one place many times cannot make a small file large.
///
/// Source: https://flatbuffers.dev/internals
package struct FlatBufferReader {
  /// How deep tables may lie in each other.
  static let depthLimit = 64

  /// The outermost table.
  package let root: FlatBufferTable

  /// - Parameter identifier: the four letters behind the first offset; nil for a buffer without.
  /// - Throws: `damaged` when the letters are others or the first table is outside the bytes.
  package init(_ bytes: UnsafeRawBufferPointer, identifier: String? = nil) throws {
    guard bytes.count >= 8 else {
      throw GraftError(
        .damaged, "a FlatBuffer has at least 8 bytes, and this one has \(bytes.count)")
    }
    if let identifier, !Self.has(identifier, bytes) {
      let found = String(decoding: bytes[4..<8], as: UTF8.self)
      throw GraftError(
        .damaged, "the letters at byte 4 are '\(found)', not '\(identifier)'",
        fix: "Check the kind of file")
    }
    let buffer = FlatBufferBytes(bytes)
    root = try FlatBufferTable(buffer, at: try buffer.target(0), depth: 0)
  }

  /// Whether the bytes begin like a FlatBuffer of that kind.
  package static func has(_ identifier: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= 8 && bytes[4..<8].elementsEqual(identifier.utf8)
  }
}

/// The bytes of a buffer, and how many may still be read.
final class FlatBufferBytes {
  let bytes: UnsafeRawBufferPointer
  private var budget: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    budget = bytes.count * 4 + 4096
  }

  /// The little-endian number at `position`.
  func number<Number: FixedWidthInteger>(_ position: Int, _ type: Number.Type) throws -> Number {
    try require(position, MemoryLayout<Number>.size)
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: Number.self))
  }

  /// Where the offset at `position` leads.
  func target(_ position: Int) throws -> Int {
    let offset = Int(try number(position, UInt32.self))
    guard offset > 0, offset <= bytes.count - position else {
      throw damaged("an offset of \(offset) leads out of the file's \(bytes.count) bytes", position)
    }
    return position + offset
  }

  /// The elements of the vector at `position`, each of `width` bytes.
  func vector(_ position: Int, width: Int) throws -> UnsafeRawBufferPointer {
    let count = Int(try number(position, UInt32.self))
    let start = position + 4
    guard count <= (bytes.count - start) / width else {
      throw damaged("a list of \(count) elements ends outside the file", position)
    }
    let elements = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count * width])
    try charge(elements.count, position)
    return elements
  }

  func require(_ position: Int, _ count: Int) throws {
    guard position >= 0, count >= 0, count <= bytes.count, position <= bytes.count - count else {
      throw damaged("\(count) bytes are wanted, and the file ends at byte \(bytes.count)", position)
    }
  }

  /// Counts bytes as read.
  func charge(_ count: Int, _ position: Int) throws {
    guard count <= budget else {
      throw damaged("offsets lead to the same bytes again and again", position)
    }
    budget -= count
  }

  func damaged(_ what: String, _ position: Int) -> GraftError {
    GraftError(.damaged, what, at: ["byte \(position)"])
  }
}
