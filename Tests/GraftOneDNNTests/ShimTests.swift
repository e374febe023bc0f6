import Foundation
import GraftTestSupport
import Testing

/// The C face over oneDNN against its one user.
struct ShimTests {
  /// Swift tells success from failure only, and shows the message.
  private static let statuses: Set = [
    "GRAFT_OK", "GRAFT_OUT_OF_MEMORY", "GRAFT_INVALID_ARGUMENTS", "GRAFT_UNSUPPORTED",
    "GRAFT_RUNTIME_ERROR",
  ]

  @Test func `every function and constant of the shim has a user in GraftOneDNN`() throws {
    let header = try text("Sources/COneDNN/include", "h")
    let sources = try text("Sources/GraftOneDNN", "swift")
    let used = Set(sources.matches(of: #/\bgraft_\w+|\bGRAFT_\w+/#).map { String($0.output) })
    let functions = header.matches(of: #/(?m)^[a-z][^(\n]*\b(graft_\w+)\(/#).map {
      String($0.output.1)
    }
    let constants = header.matches(of: #/(?m)^  (GRAFT_\w+) = /#).map { String($0.output.1) }
    #expect(functions.count >= 30)
    #expect(constants.count >= 30)
    for name in functions + constants where !Self.statuses.contains(name) {
      #expect(used.contains(name), "\(name) has no user")
    }
  }

  @Test func `every slot has a user in GraftOneDNN`() throws {
    let sources = try text("Sources/GraftOneDNN", "swift")
    let slots = sources.matches(of: #/case \.(\w+)(?:\(let index\))?: Int32\(GRAFT_SLOT_/#)
    #expect(slots.count >= 20)
    for slot in slots {
      let name = String(slot.output.1)
      let uses = try Regex("\\.\(name)\\b")
      #expect(sources.matches(of: uses).count > 1, "slot \(name) has no user")
    }
  }

  @Test func `every function that the shim's files share has a user in another file`() throws {
    let folder = SharedData.project.appending(path: "Sources/COneDNN")
    let files = try files(folder, "c")
    let bodies = try files.map { try String(contentsOf: $0, encoding: .utf8) }
    let headers = try text("Sources/COneDNN", "h")
    let shared = Set(headers.matches(of: #/\b(graft_\w+)\(/#).map { String($0.output.1) })
      .subtracting(
        try text("Sources/COneDNN/include", "h").matches(of: #/\b(graft_\w+)\(/#)
          .map { String($0.output.1) })
    #expect(shared.count >= 10)
    for name in shared {
      #expect(bodies.count(where: { $0.contains("\(name)(") }) > 1, "\(name) has no user")
    }
  }

  /// The text of all files in a folder and below.
  private func text(_ folder: String, _ type: String) throws -> String {
    try files(SharedData.project.appending(path: folder), type)
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
  }

  private func files(_ folder: URL, _ type: String) throws -> [URL] {
    let found = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return found.compactMap { $0 as? URL }.filter { $0.pathExtension == type }
  }
}
