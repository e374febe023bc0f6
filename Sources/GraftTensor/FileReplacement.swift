import GraftDiagnostics

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes a file beside `path`, syncs it and renames it over `path`, so that a reader sees the old
/// bytes or the new ones and a failure loses nothing.
///
/// - Parameter body: calls its argument with consecutive pieces of the file.
/// - Throws: `inputOutput` when the folder cannot be written or the disk is full; what `body` throws.
package func replaceFile(
  at path: String, writing body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
) throws {
  func failure(_ what: String) -> GraftError {
    let reason = String(cString: strerror(errno))
    return GraftError(
      .inputOutput, "\(what): \(reason)", at: [path],
      fix: "Check that the folder exists and is writable and that the disk has space")
  }
  var template = Array((path + ".XXXXXX").utf8CString)
  let descriptor = mkstemp(&template)
  guard descriptor >= 0 else { throw failure("the file cannot be made") }
  var isOpen = true
  var isDone = false
  defer {
    if isOpen { close(descriptor) }
    if !isDone { unlink(template) }
  }
  try body { piece in
    guard var start = piece.baseAddress else { return }
    var left = piece.count
    while left > 0 {
      let count = write(descriptor, start, left)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("the file cannot be written") }
      start += count
      left -= count
    }
  }
  let mask = umask(0)
  umask(mask)
  fchmod(descriptor, 0o666 & ~mask)
  guard fsync(descriptor) == 0 else { throw failure("the file cannot be written") }
  isOpen = false
  guard close(descriptor) == 0 else { throw failure("the file cannot be written") }
  guard rename(template, path) == 0 else { throw failure("the file cannot be put in place") }
  isDone = true
}
