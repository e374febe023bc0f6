import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import Testing

@testable import GraftLearning

struct TrainingEventTests {
  private func session(
    rate: Float = 0.5, _ change: (inout TrainingOptions) -> Void = { _ in }
  ) throws -> TrainingSession {
    var options = TrainingOptions()
    change(&options)
    return try TrainingSession(
      try Networks.twoLayers(), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .sgd(learningRate: rate), options: options)
  }

  @Test func `events come in order with their numbers`() throws {
    let session = try session()
    let data = try Networks.examples(5)
    let events = try session.fit(
      [data], validation: [data], epochs: 2, batchSize: 3
    ).allEvents()
    #expect(
      events.map(\.kind) == [.begin, .batch, .batch, .epoch, .batch, .batch, .epoch, .end])
    #expect(events.map(\.epoch) == [1, 1, 1, 1, 2, 2, 2, 2])
    #expect(events.map(\.step) == [0, 1, 2, 2, 3, 4, 4, 4])
    #expect(events.map(\.batch) == [0, 1, 2, 2, 1, 2, 2, 2])
    #expect(events.allSatisfy { $0.batchCount == 2 })
    let begin = events[0]
    #expect(begin.loss.isNaN && begin.batchLoss.isNaN && begin.gradientNorm == nil)
    #expect(begin.examplesPerSecond == nil && begin.timeLeft == nil)
    // The epoch's loss is the mean over its examples, 3 and 2.
    #expect(abs(events[3].loss - (3 * events[1].batchLoss + 2 * events[2].batchLoss) / 5) < 1e-12)
    for event in events[1...] {
      #expect(try #require(event.gradientNorm) > 0)
      #expect(try #require(event.examplesPerSecond) > 0)
    }
    #expect(try #require(events[1].timeLeft) > .zero)
    #expect(events.last?.timeLeft == .zero)
    #expect(events.last?.reason == .completed)
    let last = try session.evaluate([data], batchSize: 3)
    #expect(events[6].validation == last)
    #expect(events.last?.validation == last)
  }

  /// Of plain descent at rate 1 the update is the gradient.
  @Test func `the gradient's norm is that of the update at rate 1`() throws {
    let session = try session(rate: 1)
    let before = try session.flatWeights()
    let events = try session.fit([Networks.examples(5)], epochs: 1, batchSize: 5).allEvents()
    let moved = zip(before, try session.flatWeights()).reduce(0.0) {
      $0 + Double($1.0 - $1.1) * Double($1.0 - $1.1)
    }
    #expect(abs(try #require(events[1].gradientNorm) - moved.squareRoot()) < 1e-5)
  }

  @Test(arguments: [(LastBatch.keep, [3, 2], 5), (.drop, [3], 3), (.wrap, [3, 3], 6)])
  func `the last batch is kept, dropped or filled`(
    lastBatch: LastBatch, sizes: [Int], count: Int
  ) throws {
    let session = try session()
    var options = FitOptions(batchSize: 3)
    options.lastBatch = lastBatch
    let iterator = try session.fit([Networks.examples(5)], options).makeAsyncIterator()
    while let event = try iterator.nextEvent(), event.kind != .epoch {
      if event.kind == .batch { #expect(event.batchCount == sizes.count) }
    }
    #expect(session.updateCount == sizes.count)
  }

  @Test func `a set smaller than a batch that is dropped is an error`() throws {
    var options = FitOptions(batchSize: 6)
    options.lastBatch = .drop
    #expect {
      try session().fit([Networks.examples(5)], options)
    } throws: {
      "\($0)".contains("no set has the 6 examples of a batch")
    }
  }

  @Test func `balanced classes come up equally often`() throws {
    let data = try ExampleSet(
      inputs: ["x": Networks.random([4, 2], seed: 1)], targets: Tensor([0, 0, 0, 1] as [Int64]))
    var options = FitOptions(batchSize: 2)
    options.balancesClasses = true
    let events = try session().fit([data], options).allEvents()
    #expect(events.count { $0.kind == .batch } == 3)
    let values = try ExampleSet(inputs: ["x": Tensor(zeros: [4, 2])], targets: Tensor(zeros: [4]))
    #expect(throws: GraftError.self) { try session().fit([values], options) }
  }

  @Test func `the validation is not better for as many epochs as patience says`() throws {
    // At rate 0 nothing ever changes: the first epoch is the best.
    var options = FitOptions(epochs: 50, batchSize: 5)
    options.earlyStopping = EarlyStopping(patience: 2)
    let events = try session(rate: 1e-12).fit([Networks.examples(5)], options).allEvents()
    #expect(events.count { $0.kind == .epoch } <= 4)
    #expect(events.last?.reason == .earlyStopping)
  }

  @Test func `the best weights come back`() throws {
    let session = try session(rate: 0.5)
    let data = try Networks.examples(6)
    var options = FitOptions(epochs: 30, batchSize: 6)
    options.earlyStopping = EarlyStopping(patience: 2)
    let iterator = try session.fit([data], validation: [data], options).makeAsyncIterator()
    var best: (loss: Double, weights: [Float])?
    var end: TrainingEvent?
    while let event = try iterator.nextEvent() {
      if event.kind == .epoch, let loss = event.validation?.loss, loss < best?.loss ?? .infinity {
        best = (loss, try session.flatWeights())
      }
      // From the fifth epoch on the rate is far too large.
      if event.kind == .epoch, event.epoch == 5 { session.learningRate = 500 }
      if event.kind == .end { end = event }
    }
    let wanted = try #require(best)
    #expect(end?.reason == .earlyStopping)
    #expect(try session.flatWeights() == wanted.weights)
    #expect(end?.validation?.loss == wanted.loss)
  }

  @Test func `a paused run waits, and goes on or ends`() async throws {
    let session = try session()
    let run = try session.fit([Networks.examples(5)], epochs: 2, batchSize: 5)
    run.control.pause()
    let control = run.control
    let waker = Task {
      try await Task.sleep(for: .milliseconds(50))
      control.resume()
    }
    let start = ContinuousClock.now
    var kinds: [TrainingEvent.Kind] = []
    for try await event in run {
      kinds.append(event.kind)
      if kinds.count == 2 { control.stop() }
    }
    try await waker.value
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    #expect(kinds == [.begin, .batch, .end])
    #expect(control.isStopped && !control.isPaused)
  }

  @Test func `a paused run can be cancelled`() async throws {
    let (model, data) = (try Networks.twoLayers(), try Networks.examples(5))
    let task = Task {
      let session = try TrainingSession(
        model, trainable: .matching("w2"), loss: .crossEntropy, optimizer: .sgd())
      let run = try session.fit([data], epochs: 2, batchSize: 5)
      run.control.pause()
      for try await _ in run {}
    }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    await #expect {
      try await task.value
    } throws: {
      ($0 as? GraftError)?.code == .cancelled
    }
  }

  @Test func `hyper-parameters tell default and range and keep to them`() throws {
    let session = try session()
    let names = session.hyperParameters.map(\.name)
    #expect(
      names == [
        "learningRate", "momentum", "dampening", "weightDecay", "l1", "clipNorm", "clipValue",
        "accumulation",
      ])
    let rate = try session.hyperParameters.named("learningRate")
    #expect(rate.value == .number(0.5))
    #expect("\(rate.allowed)" == "numbers above 0")
    for (name, value, text) in [
      ("learningRate", -1.0, "'learningRate' cannot be -1: it takes numbers above 0"),
      ("momentum", .nan, "'momentum' cannot be nan: it takes numbers of at least 0"),
      ("accumulation", 1.5, "cannot be 1.5: it takes whole numbers of at least 1"),
      ("clipNorm", 0, "cannot be 0: it takes numbers above 0, or off"),
      ("momentun", 0, "Did you mean 'momentum'?"),
    ] {
      #expect {
        try session.set(name, to: value)
      } throws: {
        "\($0)".contains(text)
      }
    }
    #expect(
      session.hyperParameters.allSatisfy {
        $0.isOptional || $0.name == "learningRate"
          || $0.value == $0.defaultValue
      })
    var options = FitOptions()
    try options.set("lastBatch", to: .text("wrap"))
    try options.set("epochs", to: .number(7))
    #expect(options.lastBatch == .wrap && options.epochs == 7)
    #expect {
      try options.set("lastBatch", to: .text("refill"))
    } throws: {
      "\($0)".contains("'lastBatch' cannot be refill: it takes keep, drop, wrap")
    }
    #expect(throws: GraftError.self) { try options.set("batchSize", to: .number(0)) }
  }

  @Test func `a hyper-parameter changed in the handler holds from the next batch on`() throws {
    func train(_ change: (TrainingSession) throws -> Void) throws -> [Float] {
      let session = try session()
      let events = try session.fit([Networks.examples(5)], epochs: 3, batchSize: 5)
        .makeAsyncIterator()
      while let event = try events.nextEvent() {
        if event.kind == .batch, event.step == 1 { try change(session) }
      }
      return try session.flatWeights()
    }
    let plain = try train { _ in }
    for (name, value) in [
      ("momentum", 0.9), ("weightDecay", 0.1), ("l1", 0.1), ("clipNorm", 0.01), ("clipValue", 0.01),
      ("accumulation", 2),
    ] {
      #expect(try train { try $0.set(name, to: value) } != plain, "\(name)")
      #expect(
        try train {
          try $0.set(name, to: value)
          try $0.set(name, to: $0.hyperParameters.named(name).defaultValue)
        } == plain, "\(name) and back")
    }
  }
}
