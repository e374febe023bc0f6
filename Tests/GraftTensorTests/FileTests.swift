import Foundation
import GraftDiagnostics
import GraftTensor
import Testing

struct FileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "graft-files-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func replace(_ path: String, with text: String) throws {
    try replaceFile(at: path) { write in try Array(text.utf8).withUnsafeBytes { try write($0) } }
  }

  @Test func `a file is replaced as a whole`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try replace(path("a"), with: "old")
    try replace(path("a"), with: "new text")
    #expect(try String(contentsOfFile: path("a"), encoding: .utf8) == "new text")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
  }

  @Test func `a failure while writing leaves the old file and nothing beside it`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try replace(path("a"), with: "old")
    #expect(throws: GraftError.self) {
      try replaceFile(at: path("a")) { _ in throw GraftError(.cancelled, "stop") }
    }
    #expect(try String(contentsOfFile: path("a"), encoding: .utf8) == "old")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
  }

  @Test func `a full disk is an error that says so`() throws {
    try #require(FileManager.default.fileExists(atPath: "/dev/full"))
    #expect(throws: GraftError.self) { try replace("/dev/full/a", with: "text") }
  }

  @Test func `missing files and folders are told apart`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect {
      try FileMapping(path: path("none"))
    } throws: {
      ($0 as? GraftError)?.code == .notFound
    }
    #expect {
      try FileMapping(path: folder.path)
    } throws: {
      ($0 as? GraftError)?.code == .inputOutput
    }
  }

  @Test func `an empty file has no bytes`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try replace(path("empty"), with: "")
    #expect(try FileMapping(path: path("empty")).bytes.isEmpty)
  }
}
