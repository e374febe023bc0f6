import Foundation
import GraftGraph
import GraftOperators
import GraftTestSupport
import Testing

struct CatalogTests {
  private let folder = SharedData.project.appending(path: "Sources/GraftOperators")

  @Test func `every operator has a file of its name and valid and failing samples`() throws {
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    let names = Set(
      files.compactMap { ($0 as? URL)?.deletingPathExtension().lastPathComponent })
    for op in OperatorRegistry.standard.all {
      #expect(names.contains(op.name), "\(op.qualifiedName)")
      guard op.domain.isEmpty else { continue }
      #expect(op.samples.contains { $0.error == nil }, "\(op.name) has no valid sample")
    }
  }

  @Test func `the catalog has every operator that a file defines`() throws {
    let catalog = try String(
      contentsOf: folder.appending(path: "OperatorCatalog.swift"), encoding: .utf8)
    let files = try #require(
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains(/\n  (?:package )?let name = "/) else { continue }
      for match in text.matches(
        of: /\n(?:package )?struct (\w+)(?:<\w+>)?: \w*(?:Operator|Function)\b/)
      {
        count += 1
        #expect(catalog.contains("\(match.output.1)("), "\(match.output.1) is not in the catalog")
      }
    }
    #expect(count > 50)
  }
}
