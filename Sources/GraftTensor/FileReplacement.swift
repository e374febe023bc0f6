import GraftDiagnostics

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes a file beside `path`, syncs it and renames it over `path`, so that a reader sees the old
/// bytes or the new ones and a failure loses nothing. A symbolic link stays: what it points to is
/// replaced.
///
/// - Parameter body: calls its argument with consecutive pieces of the file.
/// - Throws: `inputOutput` when something other than a regular file is there, the folder cannot be
///   written or the disk is full; what `body` throws.
package func replaceFile(
  at path: String, writing body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
) throws {
  func failure(_ what: String) -> GraftError {
    let reason = String(cString: strerror(errno))
    return GraftError(
      .inputOutput, "\(what): \(reason)", at: [path],
      fix: "Check that the folder exists and is writable and that the disk has space")
  }
  let target = try replaceableFile(at: path)
  guard let (descriptor, newFile) = makeFile(beside: target) else {
    throw failure("the file cannot be made")
  }
  var isOpen = true
  var isDone = false
  defer {
    if isOpen { close(descriptor) }
    if !isDone { unlink(newFile) }
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
  guard fsync(descriptor) == 0 else { throw failure("the file cannot be written") }
  isOpen = false
  guard close(descriptor) == 0 else { throw failure("the file cannot be written") }
  guard rename(newFile, target) == 0 else { throw failure("the file cannot be put in place") }
  isDone = true
}

/// The file that `replaceFile` would replace or make for `path`: what symbolic links lead to.
///
/// - Throws: `inputOutput` when it is a device, a pipe, a socket or a folder, or the links go round in
///   a circle.
package func replaceableFile(at path: String) throws -> String {
  var status = stat()
  if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    throw GraftError(
      .inputOutput,
      isFolder ? "this is a folder, not a file" : "this is a device or a pipe, not a file",
      at: [path], fix: "Choose the name of a file")
  }
  var target = path
  for _ in 0..<40 {
    guard lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return target }
    guard let text = linkText(target) else { break }
    let folder = target.lastIndex(of: "/").map { target[...$0] } ?? ""
    target = text.hasPrefix("/") ? text : folder + text
  }
  throw GraftError(
    .inputOutput, "the symbolic link cannot be followed", at: [path], fix: "Choose another name")
}

/// Makes a file of a new name beside `target` with the permissions of every new file; nil when that
/// fails, with the reason in `errno`.
///
/// Not by `mkstemp`, whose files only their owner may read: giving them the usual permissions needs
/// the process's mask, which cannot be asked without changing it for all threads.
private func makeFile(beside target: String) -> (descriptor: Int32, path: String)? {
  for _ in 0..<100 {
    let path = target + "." + String(UInt32.random(in: .min ... .max), radix: 36)
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    if descriptor >= 0 { return (descriptor, path) }
    guard errno == EEXIST || errno == EINTR else { return nil }
  }
  return nil
}

/// What a symbolic link holds.
private func linkText(_ path: String) -> String? {
  var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = readlink(path, &buffer, buffer.count)
  guard count > 0 else { return nil }
  return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
