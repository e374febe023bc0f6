import Foundation
import Testing

/// The most memory that the process takes. Other work would be measured along: `make test` runs
/// tests that use it by themselves.
package enum PeakMemory {
  /// Whether this process runs nothing else.
  package static let isMeasured =
    ProcessInfo.processInfo.environment["GRAFT_ALONE"] != nil
    && FileManager.default.fileExists(atPath: "/proc/self/clear_refs")

  /// Checks that sessions after the third raise the peak by 2 % at most.
  package static func expectFlat(
    _ count: Int, _ name: String, session: () async throws -> Void
  ) async throws {
    try reset()
    for _ in 0..<3 { try await session() }
    let early = try bytes()
    for _ in 3..<count { try await session() }
    let late = try bytes()
    print("\(name): \(early >> 20) MiB after 3 sessions, \(late >> 20) MiB after \(count)")
    #expect(Double(late) <= 1.02 * Double(early), "\(name): \(early) bytes, then \(late)")
  }

  /// The most memory that the process has had since the last reset, in bytes.
  private static func bytes() throws -> Int {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
    return try #require(kilobytes.flatMap { Int($0) }) << 10
  }

  /// Lets the peak begin anew.
  private static func reset() throws {
    let file = try #require(FileHandle(forWritingAtPath: "/proc/self/clear_refs"))
    try file.write(contentsOf: Data("5".utf8))
  }
}
