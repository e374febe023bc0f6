import Dispatch
import Foundation
import Synchronization

/// Where the handler of the signals writes to; below 0 when nobody listens.
private let listener = Atomic<Int32>(-1)

/// What asks a program to end: Ctrl-C, and what services and containers are ended with.
private let signals = [SIGINT, SIGTERM]

/// Notices Ctrl-C and SIGTERM while it lives, so that long work can end in order. The second time
/// they end the program at once. Where several live, the newest notices.
///
/// A handler and a pipe of its own: a signal source of libdispatch works once in a process, and with
/// a signal that is ignored, programs started meanwhile would ignore it too.
final class Interrupt {
  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  private let flag = Flag()
  /// Nil where neither signal is for this program, as in the background of a script.
  private let source: (any DispatchSourceRead)?

  /// - Parameter noticed: called when the program is asked to end, from another thread.
  init(noticed: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      source = nil
      return
    }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let previous = listener.exchange(writeEnd, ordering: .sequentiallyConsistent)
    let watched = signals.filter(Self.watch)
    guard !watched.isEmpty else {
      listener.store(previous, ordering: .sequentiallyConsistent)
      for end in ends { close(end) }
      source = nil
      return
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
    source.setEventHandler { [flag] in
      var byte: UInt8 = 0
      guard read(readEnd, &byte, 1) == 1 else { return }
      flag.isSet.store(true, ordering: .sequentiallyConsistent)
      noticed()
    }
    source.setCancelHandler {
      // From now on the handler cannot write to this pipe any more.
      _ = listener.compareExchange(
        expected: writeEnd, desired: -1, ordering: .sequentiallyConsistent)
      for end in [readEnd, writeEnd] { close(end) }
    }
    source.resume()
    self.source = source
  }

  deinit {
    guard let source else { return }
    for number in signals where !Self.isIgnored(number) { signal(number, SIG_DFL) }
    source.cancel()
  }

  /// Has a signal noticed, unless it is not for this program.
  private static func watch(_ number: Int32) -> Bool {
    guard !isIgnored(number) else { return false }
    signal(number) { number in
      let code = errno
      signal(number, SIG_DFL)
      var byte: UInt8 = 0
      _ = write(listener.load(ordering: .sequentiallyConsistent), &byte, 1)
      errno = code
    }
    return true
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let before = signal(number, SIG_IGN)
    guard unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else {
      return true
    }
    signal(number, before)
    return false
  }

  /// Whether the program was asked to end.
  var isRequested: Bool { flag.isSet.load(ordering: .sequentiallyConsistent) }
}
