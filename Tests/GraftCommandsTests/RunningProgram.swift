import Foundation
import Synchronization

/// The program `graft` in a process of its own.
final class RunningProgram {
  /// The program beside the one that runs the tests.
  static let url: URL = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let own = path.isEmpty ? CommandLine.arguments[0] : path
    return URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "graft")
  }()

  static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

  private final class Messages: Sendable {
    let text = Mutex("")
    let isComplete = Atomic(false)
  }

  private let process = Process()
  private let received = Messages()

  init(_ words: [String]) throws {
    process.executableURL = Self.url
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardError = pipe
    pipe.fileHandleForReading.readabilityHandler = { [received] handle in
      let data = handle.availableData
      if data.isEmpty {
        handle.readabilityHandler = nil
        received.isComplete.store(true, ordering: .sequentiallyConsistent)
      } else {
        received.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
      }
    }
    try process.run()
  }

  var identifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }
  /// What it has written to its error output.
  var messages: String { received.text.withLock { $0 } }

  func send(_ signal: Int32) { kill(identifier, signal) }

  /// How it ended: its exit status, or minus the signal's number.
  func end() async throws -> Int32 {
    process.waitUntilExit()
    while !received.isComplete.load(ordering: .sequentiallyConsistent) {
      try await Task.sleep(for: .milliseconds(1))
    }
    let wasKilled = process.terminationReason == .uncaughtSignal
    return wasKilled ? -process.terminationStatus : process.terminationStatus
  }
}
