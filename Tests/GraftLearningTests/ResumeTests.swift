import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// A run that stops anywhere and goes on in a fresh session ends with the same bytes as one that never
/// stopped.
struct ResumeTests {
  /// What is trained and how.
  enum Kind: String, CaseIterable, Sendable {
    case headOnFeatures, everything, accumulation, variants
  }

  private struct Setup {
    let session: TrainingSession
    let data: [ExampleSet]
    let validation: [ExampleSet]
    var options: FitOptions

    func run(from checkpoint: TrainingCheckpoint? = nil) throws -> TrainingRun {
      try session.fit(data, validation: validation, options, resuming: checkpoint)
    }
  }

  private func setup(_ kind: Kind, _ folder: URL) throws -> Setup {
    var training = TrainingOptions()
    var fit = FitOptions(epochs: 3, batchSize: 2, shuffleSeed: 11)
    var data = [try Networks.examples(7), try Networks.examples(3, seed: 8)]
    var validation: [ExampleSet] = []
    let session: TrainingSession
    switch kind {
    case .headOnFeatures, .variants:
      fit.lastBatch = .wrap
      if kind == .variants { data = try data.map(shaken) }
      session = try TrainingSession(
        try Networks.twoLayers(), trainable: .matching("w2"), loss: .crossEntropy,
        optimizer: .adamW(learningRate: 0.05), options: training)
    case .everything:
      fit.lastBatch = .drop
      training.schedule = .cosine(steps: 9, minimum: 0.1)
      session = try TrainingSession(
        try Networks.normalized(), trainable: .all, loss: .crossEntropy,
        optimizer: .sgd(learningRate: 0.1, momentum: 0.9, nesterov: true), options: training)
    case .accumulation:
      fit.epochs = 8
      training.accumulation = 3
      training.clipNorm = 1
      training.schedule = .reduceOnPlateau(factor: 0.5, patience: 0)
      fit.earlyStopping = EarlyStopping(patience: 3, minimumChange: 0.001)
      validation = [try Networks.examples(5, seed: 21)]
      session = try TrainingSession(
        try Networks.normalized(), trainable: .all, loss: .crossEntropy,
        optimizer: .adam(learningRate: 0.3), options: training)
    }
    fit.checkpoints = CheckpointOptions(folder: folder, everySteps: 1)
    return Setup(session: session, data: data, validation: validation, options: fit)
  }

  /// Examples with noise, four variants of each.
  private func shaken(_ set: ExampleSet) throws -> ExampleSet {
    try set.augmented(try ExampleVariants(count: 4, seed: 3)) { inputs, generator in
      try inputs.mapValues { tensor in
        let values = try tensor.values(as: Float.self)
        return try Tensor(
          values.map { $0 + 0.3 * Float(generator.normal()) }, shape: tensor.shape)
      }
    }
  }

  /// Parameters, statistics and the optimizer's state, to the byte.
  private func bytes(_ session: TrainingSession) -> [String: [UInt8]] {
    var bytes: [String: [UInt8]] = [:]
    for (name, tensor) in session.values {
      bytes["value " + name] = tensor.withUnsafeBytes(Array.init)
    }
    for (name, tensor) in session.optimizerState {
      bytes["state " + name] = tensor.withUnsafeBytes(Array.init)
    }
    return bytes
  }

  /// Stops after some events, as a killed process does, and goes on from the newest checkpoint.
  private func interrupted(_ kind: Kind, after count: Int, _ folder: URL) throws -> TrainingSession
  {
    let first = try setup(kind, folder)
    let events = try first.run().makeAsyncIterator()
    for _ in 0..<count { _ = try events.nextEvent() }
    let checkpoint = try TrainingCheckpoint.newest(in: folder)
    let second = try setup(kind, folder)
    if let checkpoint {
      #expect(checkpoint.warnings.isEmpty)
      #expect(try second.run(from: checkpoint).allEvents().last?.kind == .end)
    } else {
      _ = try second.run().allEvents()
    }
    return second.session
  }

  @Test(arguments: Kind.allCases)
  func `a run that goes on ends with the same bytes as one never stopped`(kind: Kind) throws {
    let folder = try TemporaryFolder()
    let whole = try setup(kind, folder.url.appending(path: "whole"))
    let events = try whole.run().allEvents()
    let wanted = bytes(whole.session)
    #expect(whole.session.updateCount > 2)
    if kind == .everything {
      #expect(wanted.keys.contains("value mean") && wanted.keys.contains { $0.hasPrefix("state") })
    }
    // Each stop writes and syncs files; a sample of them unless all are asked for.
    for count in stride(from: 1, to: events.count, by: SharedData.isLong ? 1 : 7) {
      let place = folder.url.appending(path: "stopped\(count)")
      let session = try interrupted(kind, after: count, place)
      #expect(bytes(session) == wanted, "\(kind) stopped after \(count) of \(events.count) events")
      #expect(session.updateCount == whole.session.updateCount)
    }
  }

  @Test(arguments: Kind.allCases)
  func `the last checkpoints of both are the same bytes`(kind: Kind) throws {
    let folder = try TemporaryFolder()
    let whole = folder.url.appending(path: "whole")
    let events = try setup(kind, whole).run().allEvents()
    let stopped = folder.url.appending(path: "stopped")
    _ = try interrupted(kind, after: events.count / 2, stopped)
    let names = try FileManager.default.contentsOfDirectory(atPath: whole.path).sorted()
    #expect(try FileManager.default.contentsOfDirectory(atPath: stopped.path).sorted() == names)
    for name in names {
      let both = try [whole, stopped].map { try Data(contentsOf: $0.appending(path: name)) }
      #expect(both[0] == both[1], "\(kind), \(name)")
    }
  }

  @Test func `the third kind really stops early with a lower rate and its best weights`() throws {
    let folder = try TemporaryFolder()
    let setup = try setup(.accumulation, folder.url)
    let events = try setup.run().allEvents()
    let end = try #require(events.last)
    #expect(end.reason == .earlyStopping)
    #expect(try #require(setup.session.plateau).factor < 1)
    let losses = events.filter { $0.kind == .epoch }.compactMap { $0.validation?.loss }
    #expect(losses.count < 8)
    let best = try #require(losses.min())
    let after = try setup.session.evaluate(setup.validation, batchSize: 2).loss
    #expect(abs(after - best) < 1e-9 + 0.001)
    #expect(end.validation?.loss == after)
  }

  @Test func `a change made in the handler is in the checkpoint`() throws {
    let folder = try TemporaryFolder()
    func halve(_ session: TrainingSession, _ event: TrainingEvent) throws {
      guard event.kind == .batch, event.step == 4 else { return }
      session.learningRate *= 0.5
      try session.set("momentum", to: 0.5)
    }
    let whole = try setup(.everything, folder.url.appending(path: "whole"))
    let events = try whole.run().makeAsyncIterator()
    while let event = try events.nextEvent() { try halve(whole.session, event) }
    let place = folder.url.appending(path: "stopped")
    let first = try setup(.everything, place)
    let before = try first.run().makeAsyncIterator()
    while let event = try before.nextEvent() {
      try halve(first.session, event)
      if event.kind == .checkpoint, event.step == 4 { break }
    }
    let second = try setup(.everything, place)
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    _ = try second.run(from: checkpoint).allEvents()
    #expect(bytes(second.session) == bytes(whole.session))
    #expect(second.session.learningRate == 0.05)
  }

  @Test func `a run that was stopped goes on as if it never had been`() throws {
    let folder = try TemporaryFolder()
    let whole = try setup(.accumulation, folder.url.appending(path: "whole"))
    _ = try whole.run().allEvents()
    let place = folder.url.appending(path: "stopped")
    let first = try setup(.accumulation, place)
    let run = try first.run()
    let events = run.makeAsyncIterator()
    for _ in 0..<6 { _ = try events.nextEvent() }
    run.control.stop()
    var last: TrainingEvent?
    while let event = try events.nextEvent() { last = event }
    #expect(last?.reason == .stopped)
    let second = try setup(.accumulation, place)
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    _ = try second.run(from: checkpoint).allEvents()
    #expect(bytes(second.session) == bytes(whole.session))
  }

  @Test func `a finished run can be given more epochs`() throws {
    let folder = try TemporaryFolder()
    var long = try setup(.headOnFeatures, folder.url.appending(path: "long"))
    long.options.epochs = 5
    _ = try long.run().allEvents()
    let place = folder.url.appending(path: "short")
    _ = try setup(.headOnFeatures, place).run().allEvents()
    var more = try setup(.headOnFeatures, place)
    more.options.epochs = 5
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: place))
    let events = try more.run(from: checkpoint).allEvents()
    #expect(events.filter { $0.kind == .epoch }.map(\.epoch) == [4, 5])
    #expect(bytes(more.session) == bytes(long.session))
    let history = try #require(try TrainingCheckpoint.newest(in: place)).history
    #expect(history.map(\.epoch) == [1, 2, 3, 4, 5])
  }
}
