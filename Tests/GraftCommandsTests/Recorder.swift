import Synchronization

@testable import GraftCommands

/// Keeps what a call writes.
final class Recorder: Sendable {
  private let texts = Mutex((output: "", diagnostics: ""))

  var console: Console {
    Console(
      output: { text in self.texts.withLock { $0.output += text } },
      diagnostics: { text in self.texts.withLock { $0.diagnostics += text } }, redraws: false)
  }

  var output: String { texts.withLock { $0.output } }
  var diagnostics: String { texts.withLock { $0.diagnostics } }
}
