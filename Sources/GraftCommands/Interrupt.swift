import Dispatch
import Foundation
import Synchronization

/// Notices Ctrl-C while it lives, so that long work can end in order. Pressed again, Ctrl-C ends the
/// program at once.
final class Interrupt {
  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  private let flag = Flag()
  /// Nil where Ctrl-C is not for this program, as in the background of a script.
  private let source: (any DispatchSourceSignal)?

  /// - Parameter noticed: called when Ctrl-C was pressed, from another thread.
  init(noticed: @escaping @Sendable () -> Void) {
    // A handler, for programs started meanwhile take over what is ignored, but no handler.
    let before = signal(SIGINT) { _ in }
    guard unsafeBitCast(before, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) else {
      signal(SIGINT, SIG_IGN)
      source = nil
      return
    }
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler { [flag] in
      signal(SIGINT, SIG_DFL)
      flag.isSet.store(true, ordering: .sequentiallyConsistent)
      noticed()
    }
    source.resume()
    self.source = source
  }

  deinit {
    guard let source else { return }
    source.cancel()
    signal(SIGINT, SIG_DFL)
  }

  /// Whether Ctrl-C was pressed.
  var isRequested: Bool { flag.isSet.load(ordering: .sequentiallyConsistent) }
}
