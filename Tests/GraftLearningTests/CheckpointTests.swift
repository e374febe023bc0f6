import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

struct CheckpointTests {
  private let folder: TemporaryFolder
  private let place: URL

  init() throws {
    folder = try TemporaryFolder()
    place = folder.url.appending(path: "checkpoints")
  }

  private func session(
    _ optimizer: Optimizer = .adamW(learningRate: 0.05), trainable: String = "w2"
  ) throws -> TrainingSession {
    try TrainingSession(
      try Networks.twoLayers(), trainable: .matching(trainable), loss: .crossEntropy,
      optimizer: optimizer)
  }

  private func options(
    epochs: Int = 4, _ change: (inout CheckpointOptions) -> Void = { _ in }
  ) -> FitOptions {
    var options = FitOptions(epochs: epochs, batchSize: 4)
    var checkpoints = CheckpointOptions(folder: place)
    change(&checkpoints)
    options.checkpoints = checkpoints
    return options
  }

  @discardableResult
  private func train(_ options: FitOptions) throws -> [TrainingEvent] {
    try session().fit([Networks.examples(8)], options).allEvents()
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }
  }

  private func file(_ step: Int) -> URL { CheckpointFolder(url: place).file(step: step) }

  private func damage(_ url: URL) throws {
    var data = try Data(contentsOf: url)
    data[data.count - 3] ^= 1
    try data.write(to: url)
  }

  @Test func `everything comes back, the learning rate and properties included`() throws {
    let first = try session()
    first.properties = ["name": .text("me"), "count": .integer(3), "threshold": .number(0.1)]
    _ = try first.fit([Networks.examples(8)], epochs: 2, batchSize: 4).allEvents()
    first.learningRate = 0.012345
    try first.set("beta1", to: 0.8)
    try first.set("clipNorm", to: 2)
    let url = folder.url.appending(path: "state.safetensors")
    try first.checkpoint().write(to: url)
    let read = try TrainingCheckpoint(contentsOf: url)
    #expect(read.session == first.checkpoint().session)
    let second = try session()
    try second.restore(read)
    #expect(second.learningRate == 0.012345)
    #expect(second.properties == first.properties)
    #expect(second.hyperParameters == first.hyperParameters)
    #expect(second.updateCount == 4)
    // Both go on alike.
    for session in [first, second] {
      _ = try session.fit([Networks.examples(8)], epochs: 1, batchSize: 4).allEvents()
    }
    let weights = try [first, second].map { try $0.flatWeights() }
    #expect(weights[0] == weights[1])
  }

  @Test func `only what training changes is in the file`() throws {
    try train(options())
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    #expect(Set(checkpoint.values.keys) == ["w2"])
    #expect(Set(checkpoint.optimizer.keys) == ["moment1/w2", "moment2/w2"])
    #expect(checkpoint.step == 8)
    #expect(checkpoint.epoch == 4)
  }

  @Test func `the last ones and the best are kept`() throws {
    try train(options { $0.keepLast = 2 })
    #expect(
      try names == [
        "best.safetensors", "checkpoint-00000006.safetensors", "checkpoint-00000008.safetensors",
      ])
    let history = try #require(try TrainingCheckpoint.newest(in: place)).history
    let best = try TrainingCheckpoint(contentsOf: place.appending(path: "best.safetensors"))
    let losses = history.map(\.loss)
    #expect(best.history.last?.loss == losses.min())
  }

  @Test func `checkpoints come every so many updates`() throws {
    let events = try train(
      options {
        $0.everySteps = 3
        $0.everyEpoch = false
        $0.keepBest = false
        $0.keepLast = 9
      })
    #expect(events.filter { $0.kind == .checkpoint }.map(\.step) == [3, 6, 8])
    #expect(try names.count == 3)
    #expect(events.map(\.kind).suffix(2) == [.checkpoint, .end])
  }

  @Test func `checkpoints come every so many seconds`() throws {
    let events = try train(
      options {
        $0.everySeconds = 1e-9
        $0.everyEpoch = false
        $0.keepBest = false
      })
    #expect(events.count { $0.kind == .checkpoint } >= 8)
  }

  @Test func `damaged ones are passed over, and the next run says so`() throws {
    try train(options())
    try damage(file(8))
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    #expect(checkpoint.step == 6)
    #expect(checkpoint.warnings.count == 1)
    let run = try session().fit([Networks.examples(8)], options(), resuming: checkpoint)
    let begin = try #require(try run.makeAsyncIterator().nextEvent())
    #expect(begin.kind == .begin)
    let warning = try #require(begin.warning)
    #expect(warning.contains("checkpoint-00000008.safetensors: the checksum is"))
  }

  @Test func `when all are damaged the error names them`() throws {
    try train(options { $0.keepBest = false })
    for name in try names { try damage(place.appending(path: name)) }
    #expect {
      try TrainingCheckpoint.newest(in: place)
    } throws: {
      "\($0)".contains("none of the 3 checkpoints can be read")
    }
    #expect(try TrainingCheckpoint.newest(in: folder.url.appending(path: "nothing")) == nil)
  }

  /// Whatever is flipped or cut off, the file is refused or means the same.
  @Test func `damaged files give Graft's errors only`() throws {
    try train(options())
    let original = try TrainingCheckpoint(contentsOf: file(8))
    let header = 8..<Int(try Data(contentsOf: file(8)).count)
    let copy = folder.url.appending(path: "damaged")
    let damaged = try DamagedFile(file(8).path, copy: copy, regions: [header])
    try damaged.expectErrorsOnly(count: 400, seed: 1) { path in
      let read = try TrainingCheckpoint(contentsOf: URL(fileURLWithPath: path))
      #expect(read.session == original.session)
      for (name, tensor) in original.values {
        #expect(
          read.values[name]?.withUnsafeBytes(Array.init) == tensor.withUnsafeBytes(Array.init))
      }
    }
  }

  @Test func `a checkpoint of something else is refused and nothing changes`() throws {
    let other = try session()
    let before = try other.flatWeights()
    func expectRefusal(
      _ text: String, _ checkpoint: TrainingCheckpoint,
      at location: SourceLocation = #_sourceLocation
    ) {
      #expect(sourceLocation: location) {
        try other.restore(checkpoint)
      } throws: {
        "\($0)".contains(text)
      }
    }
    expectRefusal("optimizer SGD", try session(.sgd()).checkpoint())
    expectRefusal("'w1' trains in the checkpoint only", try session(trainable: "w.").checkpoint())
    let changed = try session()
    try changed.setWeights(["w1": Tensor(zeros: [2, 4])])
    expectRefusal("belongs to another model", changed.checkpoint())
    var misfit = try session().checkpoint()
    misfit.values["w2"] = try Tensor(zeros: [3, 3])
    expectRefusal("'w2' is float32 [3, 3] in the checkpoint", misfit)
    #expect(try other.flatWeights() == before)
  }

  @Test func `other examples or batches are refused`() throws {
    try train(options())
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    var other = options()
    other.batchSize = 2
    #expect {
      try session().fit([Networks.examples(8)], other, resuming: checkpoint)
    } throws: {
      "\($0)".contains("written with the batch size 4, and this run has 2")
    }
    #expect(throws: GraftError.self) {
      try session().fit([Networks.examples(7)], options(), resuming: checkpoint)
    }
  }

  @Test func `a new run does not take the folder of another`() throws {
    try train(options())
    #expect {
      try session().fit([Networks.examples(8)], options())
    } throws: {
      "\($0)".contains("the folder holds checkpoints of another run")
    }
  }

  @Test func `what a killed program left is removed when the run goes on`() throws {
    try train(options())
    let remains = place.appending(path: "checkpoint-00000009.safetensors.aB3xYz")
    let foreign = place.appending(path: "notes.safetensors.aB3xYz")
    for url in [remains, foreign] { try Data([1]).write(to: url) }
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    _ = try session().fit([Networks.examples(8)], options(epochs: 5), resuming: checkpoint)
      .allEvents()
    #expect(!FileManager.default.fileExists(atPath: remains.path))
    #expect(FileManager.default.fileExists(atPath: foreign.path))
  }
}
