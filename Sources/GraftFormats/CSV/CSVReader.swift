import GraftDiagnostics

/// Takes the bytes of a table apart, row by row.
struct CSVReader {
  private let bytes: UnsafeRawBufferPointer
  private let separator: UInt8
  private var position: Int
  private var line = 1
  /// The line that the last row began in.
  private(set) var rowLine = 1

  /// What `keepRow` has collected: bytes of all fields, their ends, and the rows' lines.
  private(set) var contents: [UInt8] = []
  private(set) var ends: [Int] = []
  private(set) var lines: [Int] = []
  /// The last row, not kept yet.
  private var rowContents: [UInt8] = []
  private var rowEnds: [Int] = []

  /// - Throws: `badData` when the bytes are no UTF-8.
  init(_ bytes: UnsafeRawBufferPointer, separator: UInt8?) throws {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    self.bytes = bytes
    position = start
    self.separator = separator ?? Self.separator(bytes[start...])
    try checkText()
  }

  private static func separator(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt8 {
    let names = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    return [UInt8(ascii: "\t"), UInt8(ascii: ";")].first { names.contains($0) } ?? UInt8(ascii: ",")
  }

  private func checkText() throws {
    guard !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil else { return }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
    throw GraftError(
      .badData, "the text is no UTF-8", at: ["line \((wrong ?? 0) + 1)"],
      fix: "Save the table as UTF-8")
  }

  /// Reads the next row that is not empty.
  ///
  /// - Returns: the end of every field; nil at the end of the text.
  /// - Throws: `badData` naming the line.
  mutating func nextRow() throws -> [Int]? {
    while position < bytes.count {
      rowContents.removeAll(keepingCapacity: true)
      rowEnds.removeAll(keepingCapacity: true)
      rowLine = line
      let isQuoted = bytes[position] == UInt8(ascii: "\"")
      repeat { try readField() } while takeSeparator()
      takeLineEnd()
      if rowEnds.count > 1 || rowEnds.first != 0 || isQuoted { return rowEnds }
    }
    return nil
  }

  /// The fields of the last row.
  func fields(_ ends: [Int]) -> [String] {
    zip([0] + ends, ends).map { String(decoding: rowContents[$0..<$1], as: UTF8.self) }
  }

  /// Adds the last row to what is collected.
  mutating func keepRow() {
    let start = contents.count
    contents += rowContents
    ends += rowEnds.map { start + $0 }
    lines.append(rowLine)
  }

  private mutating func readField() throws {
    if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      try readQuoted()
    } else {
      while position < bytes.count, !isEnd(bytes[position]) {
        rowContents.append(bytes[position])
        position += 1
      }
    }
    rowEnds.append(rowContents.count)
  }

  private mutating func readQuoted() throws {
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") {
        guard position < bytes.count, bytes[position] == byte else {
          guard position == bytes.count || isEnd(bytes[position]) else {
            throw GraftError(
              .badData, "text follows the end of a quoted field", at: ["line \(line)"],
              fix: "Double the quotes inside of quoted fields")
          }
          return
        }
        position += 1
      } else if byte == UInt8(ascii: "\n") {
        line += 1
      }
      rowContents.append(byte)
    }
    throw GraftError(
      .badData, "a quoted field has no end", at: ["line \(rowLine)"],
      fix: "Close the quotes, or double those inside of quoted fields")
  }

  private func isEnd(_ byte: UInt8) -> Bool {
    byte == separator || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  private mutating func takeSeparator() -> Bool {
    guard position < bytes.count, bytes[position] == separator else { return false }
    position += 1
    return true
  }

  private mutating func takeLineEnd() {
    guard position < bytes.count else { return }
    let first = bytes[position]
    position += 1
    if first == UInt8(ascii: "\r"), position < bytes.count, bytes[position] == UInt8(ascii: "\n") {
      position += 1
    }
    line += 1
  }
}
