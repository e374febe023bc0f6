import Foundation
import GraftDiagnostics
import Synchronization

/// A program that runs beside this one, with limits, until it ends or is ended.
///
/// It has a process group of its own and none of this process's files. With `run` it has no standard
/// input; `FedProcess` gives it one. Any thread may call `run`; nothing global is touched. The
/// caller's thread waits; cancelling its task ends the program.
package struct ChildProcess: Sendable {
  /// A name to look for in PATH, or a path.
  package var program: String
  /// Handed over as they are: no shell reads them.
  package var arguments: [String]
  /// Variables beside those of this process.
  package var environment: [String: String] = [:]
  /// How long it may take, on the clock.
  package var timeLimit: Duration = .seconds(600)
  /// What to do when the program is not there, as an imperative sentence.
  package var installation: String?

  /// How a program ended.
  package struct Ending: Sendable {
    /// The exit status, or 128 + the number of the signal that ended it.
    package let status: Int
    /// The last lines that it wrote to standard error.
    package let messages: [String]
  }

  package init(_ program: String, _ arguments: [String], installation: String? = nil) {
    self.program = program
    self.arguments = arguments
    self.installation = installation
  }

  /// Runs the program to its end.
  ///
  /// - Parameter output: takes the pieces of standard output as they come; when it throws, the
  ///   program is ended and the error thrown on.
  /// - Throws: `externalProgram` when the program is not there, cannot be started or takes too long;
  ///   `cancelled` when the current task is cancelled.
  package func run(output: (UnsafeRawBufferPointer) throws -> Void = { _ in }) throws -> Ending {
    let (child, results, messages) = try Self.starting.withLock { _ in
      let channels = (try Channel(), try Channel())
      return (try start(nil, channels.0, channels.1), channels.0, channels.1)
    }
    var errorText: [UInt8] = []
    do {
      try read(child, results, messages, output) { errorText.keepLast($0) }
    } catch {
      child.end()
      throw error
    }
    return Ending(status: child.end(), messages: errorText.lines)
  }

  /// Held while a program starts, so that none inherits the channels of another.
  static let starting = Mutex(())

  /// Reads both channels as they fill, so that the program never waits for us, until it has ended.
  private func read(
    _ child: RunningChild, _ results: Channel, _ messages: Channel,
    _ output: (UnsafeRawBufferPointer) throws -> Void,
    _ errors: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let deadline = ContinuousClock.now + timeLimit
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "'\(program)' was ended because the work was cancelled")
      }
      guard ContinuousClock.now < deadline else {
        throw GraftError(
          .externalProgram, "'\(program)' did not finish within \(timeLimit) and was ended")
      }
      // What an ended program wrote is there at once. A program of its own that it left behind may
      // hold the channels open; that is not waited for.
      let hasEnded = child.hasEnded
      let patience: Int32 = hasEnded ? 0 : results.isOpen || messages.isOpen ? 50 : 1
      let ready = Channel.wait(results, messages, milliseconds: patience)
      if ready.first { try results.read(into: buffer, output) }
      if ready.second { try messages.read(into: buffer, errors) }
      if hasEnded && !ready.first && !ready.second { return }
    }
  }

  /// - Parameter input: becomes standard input; an empty one when nil.
  func start(_ input: Int32?, _ results: Channel, _ messages: Channel) throws -> RunningChild {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, results.writeEnd, 1)
    posix_spawn_file_actions_adddup2(&actions, messages.writeEnd, 2)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    posix_spawnattr_setsigmask(&attributes, &noSignals)
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: Int(flags)))

    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var identifier: pid_t = 0
    let code = withStrings([program] + arguments) { argv in
      withStrings(variables.map { "\($0)=\($1)" }) { envp in
        posix_spawnp(&identifier, program, &actions, &attributes, argv, envp)
      }
    }
    results.closeWriteEnd()
    messages.closeWriteEnd()
    guard code == 0 else { throw startFailure(code) }
    return RunningChild(identifier: identifier)
  }

  private func startFailure(_ code: Int32) -> GraftError {
    code == ENOENT
      ? GraftError(
        .externalProgram, "the program '\(program)' is not installed", fix: installation)
      : GraftError(
        .externalProgram,
        "the program '\(program)' cannot be started: \(String(cString: strerror(code)))")
  }
}

/// A started program, whose number stays its own until `end`.
struct RunningChild {
  let identifier: pid_t

  /// Whether it has ended by itself.
  var hasEnded: Bool {
    var info = siginfo_t()
    // WNOWAIT leaves it in place, so that its number and its group's cannot be given to another.
    let code = waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT)
    return code == 0 ? info.si_signo != 0 : errno != EINTR
  }

  /// Ends whatever is left of it and its children.
  ///
  /// - Returns: the exit status, or 128 + the number of the signal that ended it; -1 when another
  ///   part of this process took the status away.
  @discardableResult
  func end() -> Int {
    kill(-identifier, SIGKILL)
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    let signal = status & 0x7f
    return Int(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
  }
}

/// A pipe from the program to this process.
final class Channel {
  private var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw GraftError(
        .externalProgram, "no pipe can be made: \(String(cString: strerror(errno)))",
        fix: "Close files, or raise the limit of open files")
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
  }

  deinit {
    closeWriteEnd()
    closeReadEnd()
  }

  var isOpen: Bool { readEnd >= 0 }

  /// What this process reads from; below 0 when it is closed.
  var descriptor: Int32 { readEnd }

  func closeWriteEnd() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }

  private func closeReadEnd() {
    if readEnd >= 0 { close(readEnd) }
    readEnd = -1
  }

  /// Waits until one has something to read or was closed by the program.
  static func wait(_ first: Channel, _ second: Channel, milliseconds: Int32) -> (
    first: Bool, second: Bool
  ) {
    var entries = [first, second].map {
      pollfd(fd: $0.readEnd, events: Int16(POLLIN), revents: 0)
    }
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return (false, false) }
    return (entries[0].revents != 0, entries[1].revents != 0)
  }

  /// Hands on what is there; closes the channel at its end.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    let count = Glibc.read(readEnd, buffer.baseAddress, buffer.count)
    if count > 0 {
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
      closeReadEnd()
    }
  }
}

extension [UInt8] {
  /// Adds bytes and forgets the oldest beyond some thousands.
  mutating func keepLast(_ bytes: UnsafeRawBufferPointer) {
    append(contentsOf: bytes)
    let most = 1 << 14
    if count > 2 * most { removeFirst(count - most) }
  }

  /// The text's lines without empty ones.
  var lines: [String] {
    String(decoding: self, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}

/// Calls `body` with a null-terminated array of C strings.
private func withStrings<R>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
) -> R {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
