import GraftDiagnostics
import GraftTensor

extension TrainingSession {
  /// Trains on `data`; every call of the result's `next` does the work up to the next event.
  ///
  /// - Parameters:
  ///   - validation: examples to evaluate after every epoch.
  ///   - checkpoint: where to go on: a run with the same examples and options ends with the same
  ///     bytes as if it had not been interrupted. It may have other numbers of epochs or updates.
  /// - Throws: `invalidArgument` when a number is out of range or the folder for checkpoints holds
  ///   those of another run; `badData` without examples, for targets that the loss cannot take, or
  ///   for a checkpoint of something else. `next` throws `badData` when the loss or a parameter is no
  ///   finite number any more; the session's parameters are then those of the last update before.
  ///   When its task is cancelled it throws `cancelled`; what was learned is kept.
  public func fit(
    _ data: [ExampleSet], validation: [ExampleSet] = [], _ options: FitOptions = FitOptions(),
    resuming checkpoint: TrainingCheckpoint? = nil
  ) throws -> TrainingRun {
    try TrainingRun(self, data, validation, options, checkpoint)
  }

  /// Trains on `data` as given, for a number of epochs.
  public func fit(
    _ data: [ExampleSet], validation: [ExampleSet] = [], epochs: Int, batchSize: Int,
    shuffleSeed: UInt64? = nil
  ) throws -> TrainingRun {
    try fit(
      data, validation: validation,
      FitOptions(epochs: epochs, batchSize: batchSize, shuffleSeed: shuffleSeed))
  }
}

/// A run of training, pulled event by event: no batch starts before `next` is called, so whatever
/// is changed between two events holds for the next batch.
public struct TrainingRun: AsyncSequence {
  public typealias Element = TrainingEvent

  /// Pauses and stops the run from elsewhere.
  public let control = TrainingControl()

  let session: TrainingSession
  let data: [ExampleSet]
  let validation: [ExampleSet]
  let options: FitOptions
  let checkpoint: TrainingCheckpoint?
  let order: BatchOrder

  fileprivate init(
    _ session: TrainingSession, _ data: [ExampleSet], _ validation: [ExampleSet],
    _ options: FitOptions, _ checkpoint: TrainingCheckpoint?
  ) throws {
    guard !data.isEmpty else {
      throw GraftError(
        .badData, "there are no examples to train on", fix: "Give at least one example")
    }
    try options.check()
    try session.check(targetsOf: data + validation)
    order = try options.order(of: data)
    guard !order.batches(epoch: 0).isEmpty else {
      throw GraftError(
        .badData,
        "no set has the \(options.batchSize) examples of a batch, and smaller batches are dropped",
        fix: "Choose a smaller batch size, or keep the last batch")
    }
    if let checkpoint {
      try session.check(checkpoint)
      try checkpoint.run?.check(against: Self.settings(data, options))
    } else if let folder = options.checkpoints?.folder {
      try CheckpointFolder(url: folder).requireEmpty()
    }
    self.session = session
    self.data = data
    self.validation = validation
    self.options = options
    self.checkpoint = checkpoint
  }

  static func settings(_ data: [ExampleSet], _ options: FitOptions) -> RunState.Settings {
    RunState.Settings(
      exampleCounts: data.map(\.count), batchSize: options.batchSize,
      shuffleSeed: options.shuffleSeed, lastBatch: options.lastBatch,
      balancesClasses: options.balancesClasses)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Does the work between two events when asked for the next.
  public final class Iterator: AsyncIteratorProtocol {
    let run: TrainingRun
    let session: TrainingSession
    var state: RunState
    /// The weights of the best epoch, where they will be restored.
    var best: [String: Tensor] = [:]
    var pace = TrainingPace()
    var writer: CheckpointWriter?
    private var phase = Phase.beginning
    private var batches: [Batch]
    private var caches: (training: FeatureCache, validation: FeatureCache)
    private var frozenRevision: Int
    /// Events that have happened and wait to be asked for.
    private var pending: [TrainingEvent] = []

    private enum Phase { case beginning, running, over }

    fileprivate init(_ run: TrainingRun) {
      self.run = run
      session = run.session
      best = run.checkpoint?.best ?? [:]
      let step = run.checkpoint?.step ?? session.updateCount
      state =
        run.checkpoint?.run
        ?? RunState(
          TrainingRun.settings(run.data, run.options), firstUpdate: step,
          learningRate: session.learningRate)
      batches = run.order.batches(epoch: state.epoch)
      caches = (session.makeCache(), session.makeCache())
      frozenRevision = session.frozenRevision
      writer = run.options.checkpoints.map { CheckpointWriter($0, from: step) }
    }

    public func next() async throws -> TrainingEvent? {
      await run.control.waitWhilePaused()
      return try nextEvent()
    }

    /// The next event, for callers that are not asynchronous; it does not wait for a paused run.
    package func nextEvent() throws -> TrainingEvent? {
      if !pending.isEmpty { return pending.removeFirst() }
      if phase == .over { return nil }
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "training was cancelled; what was learned so far is kept")
      }
      if phase == .beginning { return try begin() }
      // What the caller changed after the last event is in the checkpoint.
      if let event = writeDueCheckpoint() { return event }
      if let reason = endReason { return try end(reason) }
      return state.batch < batches.count ? try runBatch() : try endEpoch()
    }

    private func begin() throws -> TrainingEvent {
      if let checkpoint = run.checkpoint { try session.adopt(checkpoint) }
      for set in run.data + run.validation { try session.check(set) }
      _ = try session.graph(for: run.data[0])
      phase = .running
      writer?.begin()
      var warnings = run.checkpoint?.warnings ?? []
      if let folder = run.options.checkpoints?.folder {
        warnings += CheckpointFolder(url: folder).problem.map { ["\($0)"] } ?? []
      }
      return event(.begin, warning: warnings.isEmpty ? nil : warnings.joined(separator: "\n"))
    }

    private func runBatch() throws -> TrainingEvent {
      let batch = batches[state.batch]
      renewCaches()
      let start = ContinuousClock.now
      let loss = try session.addGradients(
        batch, of: run.data, features: caches.training, later: laterBatches)
      let number = session.updateCount + 1
      let rate = session.nextLearningRate
      state.batch += 1
      state.lossSum += loss * Double(batch.rows.count)
      state.exampleCount += batch.rows.count
      state.batchLoss = loss
      state.loss = state.lossSum / Double(state.exampleCount)
      state.learningRate = rate
      let isLastBatch =
        state.batch == batches.count && state.epoch + 1 == run.options.epochs
      if session.isUpdateDue || isLastBatch { try session.applyGradients() }
      pace.add(batch.rows.count, ContinuousClock.now - start)
      return event(.batch, step: number)
    }

    /// The batches after the present one, to the end of the next epoch or of the run.
    private func laterBatches() -> [Batch] {
      var later = Array(batches.dropFirst(state.batch + 1))
      if state.epoch + 1 != run.options.epochs {
        later += run.order.batches(epoch: state.epoch + 1)
      }
      return batchesLeft.map { Array(later.prefix(Swift.max(0, $0 - 1))) } ?? later
    }

    private func endEpoch() throws -> TrainingEvent {
      renewCaches()
      state.validation =
        run.validation.isEmpty
        ? nil
        : try session.evaluate(
          run.validation, batchSize: run.options.batchSize, features: caches.validation)
      recordEpoch()
      let event = event(.epoch, validation: state.validation)
      state.epoch += 1
      state.batch = 0
      state.lossSum = 0
      state.exampleCount = 0
      batches = run.order.batches(epoch: state.epoch)
      return event
    }

    private func end(_ reason: TrainingEvent.EndReason) throws -> TrainingEvent? {
      phase = .over
      let written = writeCheckpoint()
      var validation = state.validation
      if reason != .stopped {
        if let best = state.best, run.options.earlyStopping?.restoresBest == true,
          !self.best.isEmpty
        {
          session.forgetGradients()
          session.values.merge(self.best) { $1 }
          validation = best.validation
        } else if session.hasGradients {
          try session.applyGradients()
        }
      }
      pending = (written.map { [$0] } ?? []) + [event(.end, validation: validation, reason: reason)]
      return pending.removeFirst()
    }

    /// Features made of something frozen that has changed since are of no use.
    private func renewCaches() {
      guard frozenRevision != session.frozenRevision else { return }
      frozenRevision = session.frozenRevision
      caches = (session.makeCache(), session.makeCache())
    }

    /// Batches that are left; nil when the run has no fixed end.
    var batchesLeft: Int? {
      if let updates = run.options.updates {
        let left = updates - (session.updateCount - state.firstUpdate)
        return Swift.max(0, left * session.options.accumulation - session.accumulatedBatches)
      }
      return run.options.epochs.map { epochs in
        Swift.max(0, (epochs - state.epoch) * batches.count - state.batch)
      }
    }

    var batchCount: Int { batches.count }
  }
}

extension FitOptions {
  /// - Throws: `badData` when classes are to be balanced and the targets are no class numbers.
  fileprivate func order(of data: [ExampleSet]) throws -> BatchOrder {
    BatchOrder(
      exampleCounts: data.map(\.count), batchSize: batchSize, shuffleSeed: shuffleSeed,
      lastBatch: lastBatch,
      balancedClasses: balancesClasses ? try data.map { try $0.classNumbers } : nil)
  }

  /// The updates of a whole run; nil when it has no fixed end.
  ///
  /// - Parameter accumulation: batches for each update.
  /// - Throws: `badData` when classes are to be balanced and the targets are no class numbers.
  package func updateCount(of data: [ExampleSet], accumulation: Int) throws -> Int? {
    if let updates { return updates }
    guard let epochs else { return nil }
    let batches = try order(of: data).batches(epoch: 0).count.multipliedReportingOverflow(
      by: epochs)
    guard !batches.overflow else { return nil }
    return (batches.partialValue + accumulation - 1) / max(1, accumulation)
  }
}

extension ExampleSet {
  /// - Throws: `badData` when the targets are not one class number for each example.
  fileprivate var classNumbers: [Int] {
    get throws {
      guard let numbers = targets.integers, numbers.count == count else {
        throw GraftError(
          .badData,
          "the targets are \(targets.elementType) \(targets.shape); classes are balanced by one "
            + "class number for each example", at: [name], fix: "Do not balance the classes")
      }
      return numbers
    }
  }
}
