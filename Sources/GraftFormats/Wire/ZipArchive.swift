import GraftDiagnostics

/// The entries of a ZIP archive in memory, with the large-file extension (ZIP64).
///
/// Only entries that are stored without compression can be read, where they lie. Source: PKWARE's
/// APPNOTE.TXT, 6.3.
struct ZipArchive {
  /// An entry of the central directory.
  struct Entry {
    fileprivate let isStored: Bool
    fileprivate let isEncrypted: Bool
    fileprivate let byteCount: Int
    /// Where the header in front of its bytes begins.
    fileprivate let headerPosition: Int
  }

  private let bytes: UnsafeRawBufferPointer
  private var entries: [String: Entry] = [:]

  var names: some Collection<String> { entries.keys }

  /// Reads the central directory.
  ///
  /// - Throws: `damaged` when it breaks the format, `unsupported` for an archive in several parts.
  init(_ bytes: UnsafeRawBufferPointer) throws {
    self.bytes = bytes
    let directory = try Directory(bytes)
    var cursor = try ByteCursor(bytes, at: directory.position)
    for _ in 0..<directory.entryCount {
      let (name, entry) = try Self.entry(&cursor)
      try Self.check(name)
      guard entries.updateValue(entry, forKey: name) == nil else {
        throw GraftError(.damaged, "the ZIP archive holds '\(name)' twice")
      }
    }
  }

  /// The bytes of an entry, nil when there is none of that name.
  ///
  /// - Throws: `unsupported` when it is compressed or encrypted, `damaged` when it lies outside the
  ///   file.
  func contents(of name: String) throws -> UnsafeRawBufferPointer? {
    guard let entry = entries[name] else { return nil }
    return try locating("entry '\(name)'") {
      guard !entry.isEncrypted else { throw GraftError(.unsupported, "it is encrypted") }
      guard entry.isStored else {
        throw GraftError(
          .unsupported, "it is compressed, and Graft reads stored entries only",
          fix: "Pack the archive again without compression: zip -0")
      }
      var cursor = try ByteCursor(bytes, at: entry.headerPosition)
      guard try cursor.integer(UInt32.self) == Signature.localHeader else {
        throw GraftError(.damaged, "no header is at byte \(entry.headerPosition)")
      }
      try cursor.skip(22)
      let nameLength = try cursor.count(UInt16.self)
      let extraLength = try cursor.count(UInt16.self)
      try cursor.skip(nameLength + extraLength)
      return try cursor.take(entry.byteCount)
    }
  }

  private static func entry(_ cursor: inout ByteCursor) throws -> (String, Entry) {
    guard try cursor.integer(UInt32.self) == Signature.directoryEntry else {
      throw GraftError(
        .damaged, "the ZIP archive's directory is broken before byte \(cursor.position)")
    }
    try cursor.skip(4)  // versions
    let flags = try cursor.integer(UInt16.self)
    let method = try cursor.integer(UInt16.self)
    try cursor.skip(8)  // time, date, checksum
    var compressed = try cursor.count(UInt32.self)
    var size = try cursor.count(UInt32.self)
    let nameLength = try cursor.count(UInt16.self)
    let extraLength = try cursor.count(UInt16.self)
    let commentLength = try cursor.count(UInt16.self)
    try cursor.skip(8)  // part, attributes
    var position = try cursor.count(UInt32.self)
    let name = try cursor.text(nameLength)
    let extra = try cursor.take(extraLength)
    try cursor.skip(commentLength)
    // In the order in which the extension holds those that are full.
    try readLargeNumbers(extra, &size, &compressed, &position)
    let isStored = method == 0
    guard !isStored || size == compressed else {
      throw GraftError(.damaged, "the ZIP entry '\(name)' has two sizes: \(size) and \(compressed)")
    }
    return (
      name,
      Entry(
        isStored: isStored, isEncrypted: flags & 1 != 0, byteCount: size, headerPosition: position)
    )
  }

  /// Replaces numbers that did not fit into 32 bits by those of the ZIP64 extension.
  private static func readLargeNumbers(
    _ extra: UnsafeRawBufferPointer, _ size: inout Int, _ compressed: inout Int,
    _ position: inout Int
  ) throws {
    let full = Int(UInt32.max)
    guard size == full || compressed == full || position == full else { return }
    var cursor = try ByteCursor(extra)
    while cursor.position < extra.count {
      let kind = try cursor.integer(UInt16.self)
      let length = try cursor.count(UInt16.self)
      var field = try ByteCursor(try cursor.take(length))
      guard kind == 1 else { continue }
      if size == full { size = try field.count(UInt64.self) }
      if compressed == full { compressed = try field.count(UInt64.self) }
      if position == full { position = try field.count(UInt64.self) }
      return
    }
  }

  private static func check(_ name: String) throws {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.isEmpty, !name.hasPrefix("/"), !name.utf8.contains(0), !parts.contains("..") else {
      throw GraftError(.damaged, "the ZIP archive holds an entry with the name '\(name)'")
    }
  }

  enum Signature {
    static let localHeader: UInt32 = 0x0403_4b50
    static let directoryEntry: UInt32 = 0x0201_4b50
    static let end: UInt32 = 0x0605_4b50
    static let largeEnd: UInt32 = 0x0606_4b50
    static let largeEndLocator: UInt32 = 0x0706_4b50
  }
}

/// Where the central directory is, from the record at the archive's end.
private struct Directory {
  var position: Int
  var entryCount: Int

  private static let endByteCount = 22
  private static let locatorByteCount = 20
  private static let longestComment = 65_535

  init(_ bytes: UnsafeRawBufferPointer) throws {
    guard let end = Self.endPosition(bytes) else {
      throw GraftError(
        .damaged, "the ZIP archive has no directory at its end",
        fix: "Get the file again: it may be cut off")
    }
    var cursor = try ByteCursor(bytes, at: end + 4)
    let part = try cursor.integer(UInt16.self)
    try cursor.skip(4)
    entryCount = try cursor.count(UInt16.self)
    try cursor.skip(4)
    position = try cursor.count(UInt32.self)
    guard part == 0 || part == UInt16.max else {
      throw GraftError(.unsupported, "the ZIP archive is one of several parts")
    }
    try readLargeRecord(bytes, before: end)
  }

  /// The last place where the record fits and its comment ends with the file.
  private static func endPosition(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= endByteCount else { return nil }
    let last = bytes.count - endByteCount
    for position in stride(from: last, through: max(0, last - longestComment), by: -1) {
      let signature = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
      guard UInt32(littleEndian: signature) == ZipArchive.Signature.end else { continue }
      let comment = bytes.loadUnaligned(fromByteOffset: position + 20, as: UInt16.self)
      if Int(UInt16(littleEndian: comment)) == last - position { return position }
    }
    return nil
  }

  /// The record with 64-bit numbers, whose position a locator in front of the end gives.
  private mutating func readLargeRecord(_ bytes: UnsafeRawBufferPointer, before end: Int) throws {
    guard end >= Self.locatorByteCount else { return }
    var locator = try ByteCursor(bytes, at: end - Self.locatorByteCount)
    guard try locator.integer(UInt32.self) == ZipArchive.Signature.largeEndLocator else { return }
    try locator.skip(4)
    var cursor = try ByteCursor(bytes, at: try locator.count(UInt64.self))
    guard try cursor.integer(UInt32.self) == ZipArchive.Signature.largeEnd else {
      throw GraftError(.damaged, "the ZIP archive's ZIP64 record is not where it should be")
    }
    try cursor.skip(28)
    entryCount = try cursor.count(UInt64.self)
    try cursor.skip(8)
    position = try cursor.count(UInt64.self)
  }
}
