import Foundation
import Graft

/// Writes the results of a call as they come: as text or as a JSON array on standard output, and as a
/// table.
final class TaskReport {
  private let console: Console
  private let printsJSON: Bool
  private let table: TableFile?
  private let encoder = JSONEncoder()
  private var count = 0

  /// - Parameter inputs: files that the table must not replace.
  init(_ console: Console, columns: [String], printsJSON: Bool, table: String?, inputs: [String])
    throws
  {
    self.console = console
    self.printsJSON = printsJSON
    self.table = try table.map { path in
      var files = CallFiles()
      for input in inputs where !DataArguments.isFolder(input) {
        try files.read(input, "an input")
      }
      try files.write(path, "--csv", .lines)
      return try TableFile(path, columns: ["source", "frame", "time"] + columns)
    }
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
  }

  /// - Parameter meter: of a video or camera, whose pictures are not told of one by one.
  func add(_ record: TaskRecord, _ answer: TaskAnswer?, _ meter: TaskMeter? = nil) throws {
    let place = [
      record.source, record.frame.map { "\($0)" } ?? "",
      record.time.map { String(format: "%.3f", $0) } ?? "",
    ]
    for row in answer?.rows ?? [] { try table?.add(place + row) }
    if printsJSON {
      let line = String(decoding: try encoder.encode(record), as: UTF8.self)
      console.print((count == 0 ? "[\n" : ",\n") + line, terminator: "")
    } else if let meter {
      console.progress(meter.fraction, "\(record.source): \(meter.text)")
    } else {
      console.print("\(record.source): \(answer?.text ?? "no answer")")
    }
    count += 1
  }

  /// Tells how a video or camera went.
  func summary(_ text: String) {
    if printsJSON { console.note(text) } else { console.print(text) }
  }

  func wrote(_ path: String) {
    if printsJSON { console.note("wrote \(path)") } else { console.print("wrote \(path)") }
  }

  func finish() {
    console.clearProgress()
    if printsJSON { console.print(count == 0 ? "[]" : "\n]") }
  }
}

/// A table with commas, written line by line, so that what is done is kept.
final class TableFile {
  private let descriptor: Int32
  private let path: String

  init(_ path: String, columns: [String]) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw GraftError(
        .inputOutput, "the file cannot be written: \(String(cString: strerror(errno)))",
        at: [path], fix: "Check that the folder exists and is writable")
    }
    try add(columns)
  }

  deinit { close(descriptor) }

  func add(_ cells: [String]) throws {
    let line = cells.map(Self.quoted).joined(separator: ",") + "\n"
    do {
      try writeAll(Data(line.utf8), to: descriptor)
    } catch {
      throw GraftError(.inputOutput, "the file cannot be written: \(error)", at: [path])
    }
  }

  static func quoted(_ cell: String) -> String {
    guard cell.contains(where: { ",\"\n\r".contains($0) }) else { return cell }
    return "\"" + cell.replacing("\"", with: "\"\"") + "\""
  }
}
