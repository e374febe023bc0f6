import Foundation
import GraftTestSupport

@testable import GraftMedia

/// The program `graft` in a process of its own. One thread at a time uses it; letting go of it ends it.
final class RunningProgram {
  /// The program beside the one that runs the tests.
  static let url: URL = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let own = path.isEmpty ? CommandLine.arguments[0] : path
    return URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "graft")
  }()

  static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

  private let child: RunningChild
  private let results: Channel
  private let errors: Channel
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  private var errorText: [UInt8] = []
  private var status: Int32?

  init(_ words: [String]) throws {
    (child, results, errors) = try ChildProcess.starting.withLock { _ in
      let (results, errors) = (try Channel(), try Channel())
      return (try ChildProcess(Self.url.path, words).start(nil, results, errors), results, errors)
    }
  }

  deinit {
    if status == nil { child.end() }
    buffer.deallocate()
  }

  var identifier: Int32 { child.identifier }

  /// Takes what it has written until now, so that it never waits for the test.
  var isRunning: Bool {
    let hasEnded = status != nil || child.hasEnded
    while results.isOpen || errors.isOpen {
      let ready = Channel.wait(results, errors, milliseconds: 0)
      if ready.first { results.read(into: buffer) { _ in } }
      if ready.second { errors.read(into: buffer) { errorText.append(contentsOf: $0) } }
      if !ready.first && !ready.second { break }
    }
    return !hasEnded
  }

  /// What it has written to its error output.
  var messages: String {
    _ = isRunning
    return String(decoding: errorText, as: UTF8.self)
  }

  func send(_ signal: Int32) { kill(identifier, signal) }

  /// How it ended: its exit status, or 128 + the number of the signal that ended it.
  func end() async throws -> Int32 {
    try await wait { !isRunning }
    if let status { return status }
    let ending = Int32(child.end())
    status = ending
    return ending
  }
}
