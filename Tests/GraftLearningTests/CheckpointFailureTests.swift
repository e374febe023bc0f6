import Foundation
import GraftMedia
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// Whether this process may mount a file system.
private let mayMount: Bool = {
  guard let folder = try? TemporaryFolder() else { return false }
  let mount = ChildProcess("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.url.path])
  guard (try? mount.run())?.status == 0 else { return false }
  return (try? ChildProcess("umount", [folder.url.path]).run())?.status == 0
}()

/// Folders that take no checkpoints: training goes on, the user is told, nothing old is lost.
struct CheckpointFailureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func session() throws -> TrainingSession {
    try TrainingSession(
      try Networks.twoLayers(), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .adamW(learningRate: 0.05))
  }

  private func options(_ place: URL, epochs: Int = 3) -> FitOptions {
    var options = FitOptions(epochs: epochs, batchSize: 4)
    options.checkpoints = CheckpointOptions(folder: place)
    return options
  }

  private func weightsWithoutCheckpoints(epochs: Int = 3) throws -> [Float] {
    let session = try session()
    _ = try session.fit([Networks.examples(8)], epochs: epochs, batchSize: 4).allEvents()
    return try session.flatWeights()
  }

  @Test func `a file in the folder's place`() throws {
    let place = folder.url.appending(path: "file")
    try Data([7]).write(to: place)
    let session = try session()
    let events = try session.fit([Networks.examples(8)], options(place)).allEvents()
    #expect(events.first?.warning?.contains("this is a file, not a folder") == true)
    let failures = events.filter { $0.kind == .checkpoint }
    #expect(!failures.isEmpty)
    for event in failures {
      #expect(event.checkpoint == nil)
      #expect(event.warning?.contains("training goes on") == true)
      #expect(event.warning?.contains(place.path) == true)
    }
    #expect(events.last?.reason == .completed)
    #expect(try session.flatWeights() == weightsWithoutCheckpoints())
    #expect(try Data(contentsOf: place) == Data([7]))
  }

  @Test(.enabled(if: getuid() != 0, "the system lets root write everywhere"))
  func `a folder that cannot be written`() throws {
    let place = try folder.folder("locked")
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: place.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path)
    }
    let session = try session()
    let events = try session.fit([Networks.examples(8)], options(place)).allEvents()
    #expect(events.first?.warning?.contains("the folder is not writable") == true)
    #expect(events.filter { $0.kind == .checkpoint }.allSatisfy { $0.warning != nil })
    #expect(try session.flatWeights() == weightsWithoutCheckpoints())
  }

  /// A file system of 64 KiB, filled up after the first epochs.
  @Test(.enabled(if: mayMount, "needs the right to mount a file system"))
  func `a disk that is full, and later read-only`() throws {
    let place = try folder.folder("small")
    func mount(_ options: String) throws {
      let mount = ChildProcess("mount", ["-t", "tmpfs", "-o", options, "tmpfs", place.path])
      try #require(try mount.run().status == 0)
    }
    try mount("size=64k")
    defer { _ = try? ChildProcess("umount", [place.path]).run() }
    let first = try session()
    _ = try first.fit([Networks.examples(8)], options(place, epochs: 2)).allEvents()
    let kept = try contents(of: place)
    #expect(kept.count >= 2)
    let filler = place.appending(path: "filler")
    try Data().write(to: filler)
    let handle = try FileHandle(forWritingTo: filler)
    while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
    try handle.close()

    try goOn(in: place, text: "No space left on device", kept)
    try FileManager.default.removeItem(at: filler)
    try mount("remount,ro")
    try goOn(in: place, text: "Read-only file system", kept)
  }

  /// Goes on for two epochs where nothing can be written.
  private func goOn(in place: URL, text: String, _ kept: [String: Data]) throws {
    let session = try session()
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    #expect(checkpoint.epoch == 2)
    let events = try session.fit(
      [Networks.examples(8)], options(place, epochs: 4), resuming: checkpoint
    ).allEvents()
    let failures = events.filter { $0.kind == .checkpoint }
    #expect(!failures.isEmpty)
    for event in failures { #expect(event.warning?.contains(text) == true, "\(text)") }
    #expect(try session.flatWeights() == weightsWithoutCheckpoints(epochs: 4))
    #expect(try contents(of: place) == kept, "\(text)")
  }

  private func contents(of place: URL) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: place.path)
    where name != "filler" {
      contents[name] = try Data(contentsOf: place.appending(path: name))
    }
    return contents
  }
}
