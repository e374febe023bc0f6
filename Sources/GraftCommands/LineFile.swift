import Foundation
import Graft

/// A file of JSON lines, written as they come, so that it can be followed while the work goes on.
final class LineFile {
  private let handle: FileHandle
  private let path: String
  private let encoder = JSONEncoder()

  init(_ path: String) throws {
    self.path = path
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no other way to write a loss that is no number.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else {
      throw GraftError(
        .inputOutput, "the file cannot be written", at: [path],
        fix: "Check that the folder exists and is writable")
    }
    self.handle = handle
  }

  func write(_ value: some Encodable) throws {
    do {
      try handle.write(contentsOf: try encoder.encode(value) + Data("\n".utf8))
    } catch {
      throw GraftError(.inputOutput, "the file cannot be written", at: [path], cause: error)
    }
  }
}
