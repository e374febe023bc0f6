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
    defer { try? FileManager.default.removeItem(at: folder) }
    try #require(FileManager.default.fileExists(atPath: "/dev/full"))
    #expect(throws: GraftError.self) { try replace("/dev/full/a", with: "text") }
  }

  @Test func `files that others make meanwhile keep the usual permissions`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try replace(path("first"), with: "text")
    let usual = try permissions(of: path("first"))
    #expect(usual & 0o002 == 0, "the test needs a mask that keeps others from writing")
    try await withThrowingTaskGroup { group in
      for writer in 0..<2 {
        group.addTask {
          for _ in 0..<200 { try self.replace(self.path("writer\(writer)"), with: "text") }
        }
      }
      group.addTask {
        for index in 0..<2000 {
          let other = self.path("other\(index)")
          #expect(FileManager.default.createFile(atPath: other, contents: nil))
          try #expect(self.permissions(of: other) & 0o002 == 0)
        }
      }
      try await group.waitForAll()
    }
    #expect(try permissions(of: path("writer0")) == usual)
  }

  private func permissions(of path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func `a symbolic link stays and what it points to is replaced`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let manager = FileManager.default
    try replace(path("file"), with: "old")
    try manager.createSymbolicLink(atPath: path("link"), withDestinationPath: "file")
    try manager.createSymbolicLink(atPath: path("chain"), withDestinationPath: path("link"))
    try replace(path("chain"), with: "new")
    #expect(try String(contentsOfFile: path("file"), encoding: .utf8) == "new")
    #expect(try manager.destinationOfSymbolicLink(atPath: path("link")) == "file")
    #expect(try manager.destinationOfSymbolicLink(atPath: path("chain")) == path("link"))
  }

  @Test func `a symbolic link to nothing makes what it points to`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "file")
    try replace(path("link"), with: "text")
    #expect(try String(contentsOfFile: path("file"), encoding: .utf8) == "text")
  }

  @Test(arguments: ["folder", "pipe", "device", "link to a device", "circle"])
  func `what is no regular file is refused and left as it is`(kind: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var place = path(kind)
    switch kind {
    case "folder":
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    case "pipe": try #require(mkfifo(place, 0o600) == 0)
    // Losing it would do no harm to other tests.
    case "device": place = try #require(["/dev/full"].first(where: FileManager.default.fileExists))
    case "link to a device":
      try FileManager.default.createSymbolicLink(
        atPath: place, withDestinationPath: "/dev/full")
    default:
      try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: kind)
    }
    func type() throws -> FileAttributeType? {
      try FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType
    }
    let before = try type()
    #expect {
      try replace(place, with: "text")
    } throws: {
      ($0 as? GraftError)?.code == .inputOutput && "\($0)".hasPrefix("\(place): ")
    }
    #expect(try type() == before)
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
