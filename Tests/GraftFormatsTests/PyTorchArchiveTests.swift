import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

/// The archive around a checkpoint, and files that are none.
struct PyTorchArchiveTests {
  private let folder: TemporaryFolder
  private let program = PickleProgram.dictionary([
    ("w", .tensor(.storage("torch ByteStorage", "0", count: 4), shape: [4], strides: [1]))
  ])

  init() throws { folder = try TemporaryFolder() }

  private var archive: StoredZip { program.archive(["0": [1, 2, 3, 4]]) }

  private func read(_ data: Data) throws -> OrderedTable<Tensor> {
    let url = folder.url.appending(path: "checkpoint.pt")
    try data.write(to: url)
    return try PyTorchCheckpoint.read(path: url.path)
  }

  @Test(arguments: [false, true])
  func `archives with small and large numbers are read`(isLarge: Bool) throws {
    var archive = archive
    archive.isLarge = isLarge
    #expect(try read(archive.data)["w"]?.values(as: UInt8.self) == [1, 2, 3, 4])
  }

  @Test func `a compressed or encrypted entry is refused, with a way out`() throws {
    var compressed = archive
    compressed.entries[0].method = 8
    expectError(.unsupported, "entry 'archive/data.pkl': it is compressed") {
      _ = try read(compressed.data)
    }
    expectError(nil, "zip -0") { _ = try read(compressed.data) }
    var encrypted = archive
    encrypted.entries[1].flags = 1
    expectError(.unsupported, "encrypted") { _ = try read(encrypted.data) }
  }

  @Test(arguments: ["../x", "/etc/passwd", "a/../../b", "", "a\u{0}b"])
  func `an entry's name that leads elsewhere is damage`(name: String) throws {
    var archive = archive
    archive.entries.append(.init(name: name, data: []))
    expectError(.damaged, "with the name") { _ = try read(archive.data) }
  }

  @Test func `an entry that is there twice is damage`() throws {
    var archive = archive
    archive.entries.append(archive.entries[1])
    expectError(.damaged, "twice") { _ = try read(archive.data) }
  }

  @Test func `an archive that is no checkpoint says so`() throws {
    var archive = StoredZip()
    expectError(.unsupported, "no checkpoint") {
      _ = try read(Data("PK\u{3}\u{4}".utf8) + archive.data)
    }
    archive.entries = [.init(name: "word/document.xml", data: [])]
    expectError(.unsupported, "no checkpoint") { _ = try read(archive.data) }
  }

  @Test func `an archive that is cut off anywhere is an error`() throws {
    let data = archive.data
    for length in 0..<data.count {
      expectError(nil, "") { _ = try read(data.prefix(length)) }
    }
  }

  @Test func `every byte of the archive's frame may be wrong`() throws {
    var large = archive
    large.isLarge = true
    let data = large.data
    for position in data.indices {
      for bits: UInt8 in [1, 0xff] {
        var damaged = data
        damaged[position] ^= bits
        // Any tensors or one of Graft's errors will do.
        do { for (_, tensor) in try read(damaged) { tensor.touch() } } catch is GraftError {}
      }
    }
  }

  @Test func `files that are no checkpoints say so`() throws {
    expectError(.unsupported, "no checkpoint") { _ = try read(Data("hello".utf8)) }
    expectError(.unsupported, "no checkpoint") { _ = try read(Data()) }
    expectError(.unsupported, "none that torch.save wrote") {
      _ = try read(Data([0x80, 2, 0x4e, 0x2e]))
    }
    expectError(.inputOutput, "no regular file") {
      _ = try PyTorchCheckpoint.read(path: folder.url.path)
    }
    expectError(.notFound, "no such file") {
      _ = try PyTorchCheckpoint.read(path: folder.url.appending(path: "x").path)
    }
  }
}
