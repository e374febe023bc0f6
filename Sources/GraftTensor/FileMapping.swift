import GraftDiagnostics

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file's bytes, mapped into memory and unmapped when the last tensor over them is gone.
///
/// A file that another user could shorten while it is mapped is read into memory instead, since
/// touching a lost page would end the process.
package final class FileMapping: @unchecked Sendable {
  package let bytes: UnsafeRawBufferPointer
  private let isMapped: Bool

  /// - Throws: `notFound`, or `inputOutput` when the file cannot be opened or is no regular file.
  package init(path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.error(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw GraftError(
        .inputOutput, "this is no regular file", at: [path], fix: "Name a file, not a folder")
    }
    let size = Int(status.st_size)
    if size > 0, Self.isOurs(status),
      let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED
    {
      bytes = UnsafeRawBufferPointer(start: base, count: size)
      isMapped = true
      return
    }
    bytes = try Self.read(descriptor, size, path)
    isMapped = false
  }

  deinit {
    if isMapped {
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    } else {
      free(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
  }

  /// Whether only this user may write the file, or root. Our own group counts as us: where every
  /// user has a private one, new files are writable by it.
  private static func isOurs(_ status: stat) -> Bool {
    let isOwner = status.st_uid == geteuid() || status.st_uid == 0
    let isGroupOurs = status.st_mode & S_IWGRP == 0 || status.st_gid == getegid()
    return isOwner && isGroupOurs && status.st_mode & S_IWOTH == 0
  }

  /// Tells the system how the bytes will be touched next.
  func advise(_ access: Access) {
    guard isMapped else { return }
    madvise(
      UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count,
      access == .scattered ? MADV_RANDOM : MADV_NORMAL)
  }

  /// How bytes are touched: here and there, or in long runs that are worth reading ahead.
  enum Access { case scattered, inRuns }

  /// Gives back the memory of all pages that lie wholly inside `part`, a part of `bytes`; the next
  /// touch reads them from the file again.
  func releasePages(of part: UnsafeRawBufferPointer) {
    guard isMapped, let start = part.baseAddress else { return }
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let first = (Int(bitPattern: start) + page - 1) / page * page
    let end = (Int(bitPattern: start) + part.count) / page * page
    guard first < end, let base = UnsafeMutableRawPointer(bitPattern: first) else { return }
    madvise(base, end - first, Int32(MADV_DONTNEED))
  }

  private static func read(_ descriptor: Int32, _ size: Int, _ path: String) throws
    -> UnsafeRawBufferPointer
  {
    guard let base = malloc(max(1, size)) else {
      throw GraftError(.badData, "\(size) bytes of memory could not be allocated", at: [path])
    }
    var filled = 0
    while filled < size {
      #if canImport(Glibc)
        let count = Glibc.read(descriptor, base + filled, size - filled)
      #else
        let count = Darwin.read(descriptor, base + filled, size - filled)
      #endif
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        let code = errno
        free(base)
        guard count < 0 else {
          throw GraftError(.inputOutput, "the file became shorter while it was read", at: [path])
        }
        throw error(path, code)
      }
      filled += count
    }
    return UnsafeRawBufferPointer(start: base, count: size)
  }

  private static func error(_ path: String, _ code: Int32) -> GraftError {
    code == ENOENT || code == ENOTDIR
      ? GraftError(.notFound, "there is no such file", at: [path], fix: "Check the path")
      : GraftError(
        .inputOutput, "the file cannot be read: \(String(cString: strerror(code)))",
        at: [path], fix: "Check the file's permissions")
  }
}
