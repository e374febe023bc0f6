import Foundation
import Graft

/// A file of JSON lines, written as they come, so that it can be followed while the work goes on.
final class LineFile {
  private let descriptor: Int32
  private let path: String
  private let encoder = JSONEncoder()

  init(_ path: String) throws {
    self.path = path
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no other way to write a loss that is no number.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw GraftError(
        .inputOutput, "the file cannot be written: \(String(cString: strerror(errno)))",
        at: [path], fix: "Check that the folder exists and is writable")
    }
  }

  deinit { close(descriptor) }

  func write(_ value: some Encodable) throws {
    let line = try encoder.encode(value) + Data("\n".utf8)
    do {
      try writeAll(line, to: descriptor)
    } catch {
      throw GraftError(.inputOutput, "the file cannot be written: \(error)", at: [path])
    }
  }
}

/// A failed write, as the system tells it.
struct WriteFailure: Error, CustomStringConvertible {
  let code: Int32
  /// Whether nobody reads any more, as after `| head`.
  var isClosedPipe: Bool { code == EPIPE }
  var description: String { String(cString: strerror(code)) }
}

/// Writes all bytes to an open file.
///
/// - Throws: `WriteFailure`.
func writeAll(_ bytes: Data, to descriptor: Int32) throws(WriteFailure) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { throw WriteFailure(code: errno) }
    rest = rest.dropFirst(count)
  }
}
