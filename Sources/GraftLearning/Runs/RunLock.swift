import Foundation
import GraftDiagnostics

/// Keeps other processes from writing a run while this lives.
///
/// The system holds the lock and frees it when the process ends, however that happens: a file that a
/// killed process left behind keeps nobody out. The file names the process, for people.
package final class RunLock {
  /// What the file says.
  package struct Holder: Codable, Sendable, Equatable {
    package var processIdentifier: Int32
    package var host: String
    package var since: Date
  }

  private let descriptor: Int32
  private let path: String
  private let folder: RunFolder
  /// What the folder's name stood for at the beginning.
  private let identity: FileIdentity?

  /// - Throws: `inputOutput` when another process writes the run, or the lock cannot be made.
  package init(_ folder: RunFolder) throws {
    self.folder = folder
    path = folder.lock.path
    descriptor = try Self.acquire(path, folder)
    identity = FileIdentity(path: folder.path)
    let holder = Holder(
      processIdentifier: getpid(), host: ProcessInfo.processInfo.hostName, since: Date())
    let text = (try? RunFile.encoder(pretty: true).encode(holder)) ?? Data()
    ftruncate(descriptor, 0)
    _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  deinit {
    defer { close(descriptor) }
    guard isInPlace else { return }
    unlink(path)
    // Of a run that never began nothing is left: folders that hold something stay.
    rmdir(folder.checkpoints.path)
    rmdir(folder.path)
  }

  /// Whether the folder is still where it was.
  var isInPlace: Bool { FileIdentity(path: folder.path) == identity }

  private static func acquire(_ path: String, _ folder: RunFolder) throws -> Int32 {
    // Somebody who looks whether the run is being written holds the lock for a moment.
    for attempt in 0..<20 {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else {
        throw GraftError(
          .inputOutput, "the lock cannot be made: \(String(cString: strerror(errno)))",
          at: [path], fix: "Check that the folder is writable")
      }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        // The file may have been removed by its last holder after it was opened here.
        if FileIdentity(descriptor) == FileIdentity(path: path) { return descriptor }
      } else if errno != EWOULDBLOCK, errno != EINTR {
        // Some network file systems have no locks.
        return descriptor
      }
      close(descriptor)
      if attempt > 0 { usleep(10_000) }
    }
    let holder = holder(of: folder)
    throw GraftError(
      .inputOutput,
      "another process writes this run"
        + (holder.map { ": number \($0.processIdentifier) on \($0.host)" } ?? ""),
      at: [folder.path],
      fix: "Wait for its end, watch it with 'graft runs watch \(folder.name)', or choose another "
        + "name")
  }

  /// Who writes the run at this moment; nil when nobody does, also when the file was left behind.
  package static func holder(of folder: RunFolder) -> Holder? {
    let descriptor = open(folder.lock.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
    return (try? RunFile.read(Holder.self, from: folder.lock, fix: ""))
      ?? Holder(processIdentifier: 0, host: "", since: .distantPast)
  }
}

/// Which file or folder something is, whatever its name.
private struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// Nil when there is none of that name.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = status.st_dev
    number = status.st_ino
  }
}
