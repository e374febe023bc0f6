import Foundation
import Synchronization

/// Where a subcommand writes: results to one place, progress and warnings to another.
final class Console: Sendable {
  private let output: @Sendable (String) throws -> Void
  private let diagnostics: @Sendable (String) -> Void
  /// Whether progress is drawn over itself, on a terminal.
  let redraws: Bool
  /// How many characters fit on a line of the terminal.
  private let width: @Sendable () -> Int
  private let progressLength = Mutex(0)
  private let lastLine = Mutex(ContinuousClock.now)
  private let failure = Mutex<(any Error)?>(nil)

  init(
    output: @escaping @Sendable (String) throws -> Void,
    diagnostics: @escaping @Sendable (String) -> Void,
    redraws: Bool, width: @escaping @Sendable () -> Int = { 80 }
  ) {
    self.output = output
    self.diagnostics = diagnostics
    self.redraws = redraws
    self.width = width
  }

  /// How long nothing may be said where lines are not drawn over.
  private static let longestSilence = Duration.seconds(10)

  /// Standard output and standard error.
  static let standard = Console(
    output: { try writeAll(Data($0.utf8), to: STDOUT_FILENO) },
    diagnostics: { try? writeAll(Data($0.utf8), to: STDERR_FILENO) },
    redraws: isatty(STDERR_FILENO) == 1,
    width: {
      var size = winsize()
      return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        ? Int(size.ws_col) : 80
    })

  /// Why results could not be written; nil when they were, or when nobody reads them any more.
  var outputFailure: (any Error)? {
    let failure = failure.withLock { $0 }
    return (failure as? WriteFailure)?.isClosedPipe == true ? nil : failure
  }

  /// Writes a line of the result.
  ///
  /// - Parameter terminator: what ends the line; empty when more of it follows.
  func print(_ line: String = "", terminator: String = "\n") {
    clearProgress()
    // After a failure the rest would have a gap before it.
    guard failure.withLock({ $0 == nil }) else { return }
    lastLine.withLock { $0 = .now }
    do { try output(line + terminator) } catch { failure.withLock { $0 = error } }
  }

  /// Writes a line that is not part of the result.
  func note(_ line: String) {
    clearProgress()
    lastLine.withLock { $0 = .now }
    diagnostics(line + "\n")
  }

  /// Writes what is doubtful, a line each.
  func warn(_ warnings: [String]) {
    for warning in warnings { note("warning: \(warning)") }
  }

  /// Shows how far the work is, 0 to 1: in a line that is drawn over itself on a terminal, elsewhere in a
  /// line of its own when nothing was said for long.
  func progress(_ fraction: Double, _ text: String) {
    guard redraws else {
      guard lastLine.withLock({ .now - $0 > Self.longestSilence }) else { return }
      return note("\(Int((fraction * 100).rounded(.down))) %: \(text)")
    }
    let columns = self.width()
    let width = columns < 100 ? 12 : 24
    let filled = Int((min(1, max(0, fraction)) * Double(width)).rounded())
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    // A line that wraps could not be drawn over.
    let line = String(
      "\(bar) \(Int((fraction * 100).rounded())) %  \(text)".prefix(max(8, columns - 1)))
    clearProgress()
    progressLength.withLock { $0 = line.count }
    diagnostics(line)
  }

  func clearProgress() {
    let length = progressLength.withLock { length in
      defer { length = 0 }
      return length
    }
    if length > 0 { diagnostics("\r" + String(repeating: " ", count: length) + "\r") }
  }

  /// Writes a value as JSON with sorted keys.
  func print(json value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
