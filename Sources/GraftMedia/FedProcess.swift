import Foundation
import GraftDiagnostics

/// A program that is fed through its standard input while it runs.
///
/// It is used by one thread at a time. Letting go of it ends the program.
package final class FedProcess {
  private let program: String
  private let child: RunningChild
  private let input: InputSocket
  private let results: Channel
  private let messages: Channel
  private let output: (UnsafeRawBufferPointer) throws -> Void
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  private var errorText: [UInt8] = []
  private var ending: ChildProcess.Ending?

  /// Starts the program.
  ///
  /// - Parameter output: takes the pieces of standard output, while the program is fed or waited for.
  /// - Throws: `externalProgram` when the program is not there or cannot be started.
  package init(
    _ process: ChildProcess, output: @escaping (UnsafeRawBufferPointer) throws -> Void = { _ in }
  ) throws {
    program = process.program
    self.output = output
    (child, input, results, messages) = try ChildProcess.starting.withLock { _ in
      let (input, results, messages) = (try InputSocket(), try Channel(), try Channel())
      defer { input.closeReadEnd() }
      return (try process.start(input.readEnd, results, messages), input, results, messages)
    }
  }

  deinit {
    if ending == nil { child.end() }
    buffer.deallocate()
  }

  /// Hands bytes to the program, waiting until it has taken them.
  ///
  /// - Throws: `externalProgram` with the program's own words when it has ended; `cancelled`; what
  ///   `output` throws.
  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      try checkCancellation()
      guard input.isOpen, try poll(writes: true) else {
        throw failure(try finish())
      }
      guard let count = input.write(rest) else { throw failure(try finish()) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Tells the program that nothing more comes, and waits for its end.
  ///
  /// - Parameter timeLimit: how long that may take, on the clock.
  /// - Throws: as `write`, and `externalProgram` when it takes too long.
  @discardableResult
  package func finish(timeLimit: Duration = .seconds(600)) throws -> ChildProcess.Ending {
    if let ending { return ending }
    input.closeWriteEnd()
    let deadline = ContinuousClock.now + timeLimit
    while true {
      try checkCancellation()
      guard ContinuousClock.now < deadline else {
        throw GraftError(
          .externalProgram, "'\(program)' did not finish within \(timeLimit) and was ended")
      }
      let hasEnded = child.hasEnded
      if try !poll(writes: false, isLast: hasEnded), hasEnded { break }
    }
    let ending = ChildProcess.Ending(status: child.end(), messages: errorText.lines)
    self.ending = ending
    return ending
  }

  /// What a program that ended too early says about it.
  private func failure(_ ending: ChildProcess.Ending) -> GraftError {
    let reason = ending.messages.last ?? "it gave no reason (status \(ending.status))"
    return GraftError(.externalProgram, "'\(program)' ended too early: \(reason)")
  }

  private func checkCancellation() throws {
    guard !Task.isCancelled else {
      throw GraftError(.cancelled, "'\(program)' was ended because the work was cancelled")
    }
  }

  /// Waits a moment for any channel and reads what the program says.
  ///
  /// - Returns: when writing, false once the program takes no more; else whether anything was read.
  private func poll(writes: Bool, isLast: Bool = false) throws -> Bool {
    let sources = [results, messages]
    var entries = sources.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    entries.append(
      pollfd(fd: writes ? input.descriptor : -1, events: Int16(POLLOUT), revents: 0))
    guard Glibc.poll(&entries, nfds_t(entries.count), isLast ? 0 : 50) > 0 else { return writes }
    if entries[0].revents != 0 { try results.read(into: buffer, output) }
    if entries[1].revents != 0 { messages.read(into: buffer) { errorText.keepLast($0) } }
    let hasRead = entries[0].revents != 0 || entries[1].revents != 0
    return writes ? entries[2].revents & Int16(POLLERR | POLLHUP | POLLNVAL) == 0 : hasRead
  }
}

extension ChildProcess {
  /// Runs the program to its end with these bytes as its standard input.
  ///
  /// - Throws: as `FedProcess.write`.
  package func run(
    input: UnsafeRawBufferPointer, output: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Ending {
    let process = try FedProcess(self, output: output)
    try process.write(input)
    return try process.finish(timeLimit: timeLimit)
  }
}

/// A socket pair from this process to a program: unlike a pipe it can be written to without a signal
/// when the program has ended.
private final class InputSocket {
  private(set) var readEnd: Int32
  private(set) var descriptor: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw GraftError(
        .externalProgram, "no channel can be made: \(String(cString: strerror(errno)))",
        fix: "Close files, or raise the limit of open files")
    }
    (readEnd, descriptor) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  var isOpen: Bool { descriptor >= 0 }

  func closeReadEnd() {
    if readEnd >= 0 { close(readEnd) }
    readEnd = -1
  }

  func closeWriteEnd() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// Writes as much as fits now; nil when nobody reads any more.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    let count = send(
      descriptor, bytes.baseAddress, bytes.count,
      Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }
}
