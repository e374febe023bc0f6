import Foundation
import GraftDiagnostics

/// Adds lines to `log.jsonl`.
final class RunLog {
  private let path: String
  private var descriptor: Int32 = -1

  init(_ folder: RunFolder) { path = folder.log.path }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds a line, and tries to open the file again where that failed before.
  ///
  /// - Throws: `inputOutput`.
  func append(_ event: RunEvent) throws {
    if descriptor < 0 { try begin() }
    try put(try event.line() + Data("\n".utf8))
  }

  private func begin() throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure() }
    // A process that was killed may have left half a line.
    var last = UInt8(ascii: "\n")
    let size = lseek(descriptor, 0, SEEK_END)
    if size > 0 { pread(descriptor, &last, 1, size - 1) }
    if last != UInt8(ascii: "\n") { try put(Data("\n".utf8)) }
  }

  private func put(_ line: Data) throws {
    let count = line.withUnsafeBytes { bytes in
      var count = write(descriptor, bytes.baseAddress, bytes.count)
      while count < 0 && errno == EINTR {
        count = write(descriptor, bytes.baseAddress, bytes.count)
      }
      return count
    }
    guard count == line.count else {
      let error = failure(count < 0 ? errno : ENOSPC)
      close(descriptor)
      descriptor = -1
      throw error
    }
  }

  private func failure(_ code: Int32 = errno) -> GraftError {
    GraftError(
      .inputOutput, "the file cannot be written: \(String(cString: strerror(code)))", at: [path],
      fix: "Check that the folder is writable and that the disk has space")
  }
}

/// Reads `log.jsonl` while another process may add to it.
package final class RunLogReader {
  private let path: String
  private var handle: FileHandle?
  private var rest = Data()

  package init(_ folder: RunFolder) { path = folder.log.path }

  deinit { try? handle?.close() }

  /// A device in its place could be read without end.
  private var isFile: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The events of all lines that were finished since the last call. Lines that are no events are left
  /// out.
  package func newEvents() -> [RunEvent] {
    if handle == nil, isFile { handle = FileHandle(forReadingAtPath: path) }
    guard let handle, let data = try? handle.readToEnd() else { return [] }
    rest += data
    var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = Data(lines.popLast() ?? Data())
    let decoder = RunFile.decoder()
    return lines.compactMap { try? decoder.decode(RunEvent.self, from: Data($0)) }
  }
}
