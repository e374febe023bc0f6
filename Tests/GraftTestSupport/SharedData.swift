import Foundation
import Testing

/// The folder of test data beside the project. Tests that need it are skipped when it is absent.
package enum SharedData {
  /// The project's root.
  package static let project = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  package static let root = project.deletingLastPathComponent().appending(path: "shared")

  package static var isPresent: Bool { FileManager.default.fileExists(atPath: root.path) }

  package static func path(_ relative: String) -> String { root.appending(path: relative).path }

  package static let reason: Comment = "needs the folder 'shared' beside the project"

  /// Where scripts/setup keeps what it downloads and makes.
  package static let cache: URL = {
    let environment = ProcessInfo.processInfo.environment
    let base =
      environment["XDG_CACHE_HOME"].map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
    return base.appending(path: "graft")
  }()

  /// Whether the long sweeps were asked for.
  package static var isLong: Bool {
    ProcessInfo.processInfo.environment["GRAFT_LONG_TESTS"] == "1"
  }
}
