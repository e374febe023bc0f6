import GraftDiagnostics

/// A position in bytes from a file; every read is checked against their end.
struct ByteCursor {
  let bytes: UnsafeRawBufferPointer
  /// At most the number of bytes.
  private(set) var position: Int

  /// - Throws: `damaged` when `position` is outside the bytes.
  init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) throws {
    self.bytes = bytes
    self.position = 0
    try skip(position)
  }

  /// The next `count` bytes.
  mutating func take(_ count: Int) throws -> UnsafeRawBufferPointer {
    let start = position
    try skip(count)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }

  mutating func skip(_ count: Int) throws {
    guard count >= 0, count <= bytes.count - position else {
      throw GraftError(
        .damaged,
        "\(count) bytes are wanted at byte \(position), and the data ends at byte \(bytes.count)",
        fix: "Get the file again: it may be cut off")
    }
    position += count
  }

  /// The next integer, little-endian.
  mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws
    -> Number
  {
    var number: Number = 0
    let source = try take(Number.bitWidth / 8)
    withUnsafeMutableBytes(of: &number) { $0.copyMemory(from: source) }
    return Number(littleEndian: number)
  }

  /// The next integer as a count or position.
  ///
  /// - Throws: `damaged` also when it is larger than any file can be.
  mutating func count<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Int {
    let number = try integer(type)
    guard let count = Int(exactly: number), count >= 0 else {
      throw GraftError(.damaged, "a length of \(number) before byte \(position) makes no sense")
    }
    return count
  }

  /// The text up to the next line feed, which is skipped.
  mutating func line() throws -> String {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) else {
      throw GraftError(.damaged, "the line at byte \(position) has no end")
    }
    let text = try text(end - position)
    try skip(1)
    return text
  }

  /// The next `count` bytes as text.
  ///
  /// - Throws: `damaged` also when they are no UTF-8.
  mutating func text(_ count: Int) throws -> String {
    let start = position
    guard let text = String(validating: try take(count), as: UTF8.self) else {
      throw GraftError(.damaged, "the \(count) bytes at byte \(start) are no text")
    }
    return text
  }
}
