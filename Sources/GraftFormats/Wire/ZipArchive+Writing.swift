import GraftDiagnostics

extension ZipArchive {
  /// The bytes of an archive of files without compression.
  ///
  /// - Parameter position: how many bytes stand before the archive in its file.
  /// - Throws: `unsupported` when a size or position does not fit into 32 bits.
  static func bytes(of files: [(name: String, bytes: [UInt8])], at position: Int) throws -> [UInt8]
  {
    var bytes: [UInt8] = []
    var directory: [UInt8] = []
    for (name, contents) in files {
      let header = try Header(name, contents, at: position + bytes.count)
      directory += number(Signature.directoryEntry) + number(20 as UInt16) + header.common
      // Comment, part, attributes: none.
      directory += [UInt8](repeating: 0, count: 10) + number(header.position) + Array(name.utf8)
      bytes += number(Signature.localHeader) + header.common + Array(name.utf8) + contents
    }
    guard let start = UInt32(exactly: position + bytes.count),
      let count = UInt16(exactly: files.count), let length = UInt32(exactly: directory.count)
    else { throw tooLarge }
    bytes += directory
    bytes += number(Signature.end) + number(0 as UInt32) + number(count) + number(count)
    return bytes + number(length) + number(start) + number(0 as UInt16)
  }

  /// What stands in front of a file and in the directory.
  private struct Header {
    let common: [UInt8]
    let position: UInt32

    init(_ name: String, _ contents: [UInt8], at position: Int) throws {
      guard let place = UInt32(exactly: position), let size = UInt32(exactly: contents.count),
        let nameLength = UInt16(exactly: name.utf8.count)
      else { throw tooLarge }
      self.position = place
      // Version, flags (names are UTF-8), method, the first day of 1980.
      common =
        number(20 as UInt16) + number(0x800 as UInt16) + number(0 as UInt16) + number(0 as UInt16)
        + number(0x21 as UInt16) + number(checksum(contents)) + number(size) + number(size)
        + number(nameLength) + number(0 as UInt16)
    }
  }

  private static var tooLarge: GraftError {
    GraftError(.unsupported, "the files are too large for a ZIP archive of 4 GiB")
  }

  private static func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian, Array.init)
  }

  /// CRC-32, as in ISO 3309.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
    return ~sum
  }
}
