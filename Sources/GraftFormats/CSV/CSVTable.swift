import Foundation
import GraftDiagnostics
import GraftTensor

/// A table from a text file with a line of column names and one line per row, after RFC 4180.
///
/// Fields may be quoted and then hold separators, line ends and doubled quotes. Lines end in LF, CRLF
/// or CR; a byte order mark and empty lines are skipped. Every row has as many fields as there are
/// columns.
package struct CSVTable: Sendable {
  /// The names of the columns, all different.
  package let columns: [String]
  /// How many rows there are below the names.
  package let rowCount: Int
  /// All fields' bytes without quotes, row after row.
  private let contents: [UInt8]
  /// Where each field ends in the contents.
  private let ends: [Int]
  /// The line of the file that each row begins in, from 1.
  private let lines: [Int]

  /// Reads a file.
  ///
  /// - Parameter separator: what stands between fields; the first of tab, semicolon and comma that is
  ///   in the line of names when nil.
  /// - Throws: `notFound`, `inputOutput`; `badData` naming the line when a row has another number of
  ///   fields, a quote does not end or follows text, the text is no UTF-8, a name is missing or
  ///   there twice.
  package init(path: String, separator: Character? = nil) throws {
    let file = try FileMapping(path: path)
    self = try locating(path) {
      // The bytes are there as long as the mapping is.
      try withExtendedLifetime(file) { try CSVTable(file.bytes, separator: separator) }
    }
  }

  /// Reads a text; as `init(path:separator:)`.
  package init(text: String, separator: Character? = nil) throws {
    var text = text
    self = try text.withUTF8 {
      try CSVTable(UnsafeRawBufferPointer($0), separator: separator)
    }
  }

  private init(_ bytes: UnsafeRawBufferPointer, separator: Character?) throws {
    var reader = try CSVReader(bytes, separator: separator?.asciiValue)
    guard let names = try reader.nextRow(), !names.isEmpty else {
      throw GraftError(
        .badData, "the table is empty", fix: "Begin it with a line of column names")
    }
    columns = try Self.names(reader.fields(names), line: reader.rowLine)
    while let row = try reader.nextRow() {
      guard row.count == columns.count else {
        throw GraftError(
          .badData, "there are \(row.count) fields, and \(columns.count) columns are named",
          at: ["line \(reader.rowLine)"],
          fix: "Give every column one field, and quote fields that hold separators")
      }
      reader.keepRow()
    }
    contents = reader.contents
    ends = reader.ends
    lines = reader.lines
    rowCount = lines.count
  }

  private static func names(_ fields: [String], line: Int) throws -> [String] {
    let names = fields.map { $0.trimmingCharacters(in: .whitespaces) }
    for (index, name) in names.enumerated() {
      guard !name.isEmpty else {
        throw GraftError(
          .badData, "column \(index + 1) has no name", at: ["line \(line)"],
          fix: "Begin the table with a line that names every column")
      }
      guard names.firstIndex(of: name) == index else {
        throw GraftError(
          .badData, "two columns are called '\(name)'", at: ["line \(line)"], fix: "Rename one")
      }
    }
    return names
  }

  /// The place of a column.
  ///
  /// - Throws: `badData` when there is none of that name.
  package func column(_ name: String) throws -> Int {
    guard let index = columns.firstIndex(of: name) else {
      throw GraftError(
        .badData, "there is no column '\(name)'",
        fix: didYouMean(name, among: columns)
          ?? "Choose one of: \(columns.joined(separator: ", "))")
    }
    return index
  }

  /// A field as it stands, without quotes.
  ///
  /// The caller has checked that row and column exist.
  package func text(row: Int, column: Int) -> String {
    let field = row * columns.count + column
    let start = field == 0 ? 0 : ends[field - 1]
    return String(decoding: contents[start..<ends[field]], as: UTF8.self)
  }

  /// A field as a finite number.
  ///
  /// - Throws: `badData` naming line and column when the field is missing or no finite number.
  package func number(row: Int, column: Int) throws -> Double {
    let field = try present(row: row, column: column)
    guard let number = Double(field), number.isFinite else {
      throw GraftError(
        .badData, "'\(field)' is no number", at: place(row: row, column: column),
        fix: "Write numbers with a decimal point, or leave the column out")
    }
    return number
  }

  /// A field without blanks around it.
  ///
  /// - Throws: `badData` naming line and column when it is missing: empty, or a word for that.
  package func present(row: Int, column: Int) throws -> String {
    let field = text(row: row, column: column).trimmingCharacters(in: .whitespaces)
    guard !Self.wordsForMissing.contains(field.lowercased()) else {
      throw GraftError(
        .badData, "the value is missing" + (field.isEmpty ? "" : " ('\(field)')"),
        at: place(row: row, column: column),
        fix: "Fill it in, or leave out the line or the column")
    }
    return field
  }

  private static let wordsForMissing: Set<String> = ["", "na", "n/a", "nan", "null", "none", "?"]

  /// A field's line and column, for messages.
  package func place(row: Int, column: Int) -> [String] {
    ["line \(lines[row])", "column '\(columns[column])'"]
  }
}
