import Dispatch
import Foundation
import Synchronization

/// Where the handler of Ctrl-C writes to; below 0 when nobody listens.
private let listener = Atomic<Int32>(-1)

/// Notices Ctrl-C while it lives, so that long work can end in order. Pressed again, Ctrl-C ends the
/// program at once. Where several live, the newest notices.
///
/// A handler and a pipe of its own: a signal source of libdispatch works once in a process, and with
/// a signal that is ignored, programs started meanwhile would ignore it too.
final class Interrupt {
  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  private let flag = Flag()
  /// Nil where Ctrl-C is not for this program, as in the background of a script.
  private let source: (any DispatchSourceRead)?

  /// - Parameter noticed: called when Ctrl-C was pressed, from another thread.
  init(noticed: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      source = nil
      return
    }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let previous = listener.exchange(writeEnd, ordering: .sequentiallyConsistent)
    let before = signal(SIGINT) { _ in
      signal(SIGINT, SIG_DFL)
      var byte: UInt8 = 0
      _ = write(listener.load(ordering: .sequentiallyConsistent), &byte, 1)
    }
    guard unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else {
      signal(SIGINT, SIG_IGN)
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
    signal(SIGINT, SIG_DFL)
    source.cancel()
  }

  /// Whether Ctrl-C was pressed.
  var isRequested: Bool { flag.isSet.load(ordering: .sequentiallyConsistent) }
}
