import Foundation
import GraftTestSupport
import Testing

/// The manifest refuses a table of layers that is broken; this checks that the sources keep to it.
struct LayerTests {
  @Test func `a target imports only what the manifest lets it use`() throws {
    let root = SharedData.project
    let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    let module = /name: "(\w+)",\s+uses: \[([^\]]*)\]/
    let modules = manifest.matches(of: module)
    #expect(modules.count >= 10)
    for match in modules {
      let name = String(match.output.1)
      let uses = Set(match.output.2.matches(of: /"(\w+)"/).map { String($0.output.1) })
      for file in try swiftFiles(in: root.appending(path: "Sources/\(name)")) {
        let text = try String(contentsOf: file, encoding: .utf8)
        for found in text.matches(of: /(?m)^(?:@\w+ )*import (Graft\w*)/) {
          let imported = String(found.output.1)
          #expect(uses.contains(imported), "\(name)/\(file.lastPathComponent) imports \(imported)")
        }
      }
    }
  }

  @Test func `library code has no way to end the process`() throws {
    let sources = SharedData.project.appending(path: "Sources")
    let trap = #/\bfatalError\(|\bpreconditionFailure\(|\bprecondition\(|\btry!|\bas! /#
    for file in try swiftFiles(in: sources) {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.firstMatch(of: trap) == nil, "\(file.lastPathComponent)")
    }
  }

  private func swiftFiles(in folder: URL) throws -> [URL] {
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
  }
}
