import GraftDiagnostics
import GraftTensor

/// How long a session fits.
public struct FitOptions: Sendable {
  /// Passes over the data; nil for as many as the updates take.
  public var epochs: Int?
  /// Updates after which the run ends, in the middle of an epoch if need be; nil for no limit.
  public var updates: Int?
  public var batchSize: Int
  /// Nil for the order in which the examples are given.
  public var shuffleSeed: UInt64?

  public init(
    epochs: Int? = 1, updates: Int? = nil, batchSize: Int = 1, shuffleSeed: UInt64? = nil
  ) {
    self.epochs = epochs
    self.updates = updates
    self.batchSize = batchSize
    self.shuffleSeed = shuffleSeed
  }
}

extension TrainingSession {
  /// Trains on `data`; every call of the result's `next` does the work up to the next event.
  ///
  /// - Parameter validation: examples to evaluate after every epoch.
  /// - Throws: `invalidArgument` when a number is out of range, `badData` without examples or for
  ///   targets that the loss cannot take. `next` throws `badData` when the loss or a parameter is no
  ///   finite number any more; the session's parameters are then those of the last update before.
  public func fit(
    _ data: [ExampleSet], validation: [ExampleSet] = [], _ options: FitOptions = FitOptions()
  ) throws -> TrainingRun {
    try TrainingRun(self, data, validation, options)
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

  private let session: TrainingSession
  private let data: [ExampleSet]
  private let validation: [ExampleSet]
  private let options: FitOptions

  fileprivate init(
    _ session: TrainingSession, _ data: [ExampleSet], _ validation: [ExampleSet],
    _ options: FitOptions
  ) throws {
    guard !data.isEmpty else {
      throw GraftError(
        .badData, "there are no examples to train on", fix: "Give at least one example")
    }
    func require(_ value: Int?, _ name: String) throws {
      guard let value, value < 1 else { return }
      throw GraftError(.invalidArgument, "the \(name) is \(value)", fix: "Choose 1 or more")
    }
    try require(options.epochs, "number of epochs")
    try require(options.updates, "number of updates")
    try require(options.batchSize, "batch size")
    guard options.epochs != nil || options.updates != nil else {
      throw GraftError(
        .invalidArgument, "the run would never end", fix: "Give a number of epochs or of updates")
    }
    for set in data + validation { try session.check(targetsOf: set) }
    self.session = session
    self.data = data
    self.validation = validation
    self.options = options
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(session, data, validation, options)
  }

  /// Does the work between two events when asked for the next.
  public final class Iterator: AsyncIteratorProtocol {
    private let session: TrainingSession
    private let data: [ExampleSet]
    private let validation: [ExampleSet]
    private let options: FitOptions
    private let order: BatchOrder
    private let cache: FeatureCache
    private let validationCache: FeatureCache
    private let firstUpdate: Int
    private var epoch = 0
    private var batches: [Batch]
    private var next = 0
    private var lossSum = 0.0
    private var exampleCount = 0
    private var isDone = false
    private var last: TrainingEvent?

    fileprivate init(
      _ session: TrainingSession, _ data: [ExampleSet], _ validation: [ExampleSet],
      _ options: FitOptions
    ) {
      self.session = session
      self.data = data
      self.validation = validation
      self.options = options
      order = BatchOrder(
        exampleCounts: data.map(\.count), batchSize: options.batchSize,
        shuffleSeed: options.shuffleSeed)
      cache = session.makeCache()
      validationCache = session.makeCache()
      firstUpdate = session.updateCount
      batches = order.batches(epoch: 0)
    }

    public func next() async throws -> TrainingEvent? { try nextEvent() }

    /// The next event, for callers that are not asynchronous.
    package func nextEvent() throws -> TrainingEvent? {
      if isDone { return nil }
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "training was cancelled; what was learned so far is kept")
      }
      return next < batches.count ? try runBatch() : try endEpoch()
    }

    private func runBatch() throws -> TrainingEvent {
      let batch = batches[next]
      let loss = try session.addGradients(batch, of: data, features: cache, later: laterBatches)
      next += 1
      lossSum += loss * Double(batch.rows.count)
      exampleCount += batch.rows.count
      let event = event(.batch, batchLoss: loss, rate: session.nextLearningRate)
      last = event
      let isLastBatch = next == batches.count && epoch + 1 == options.epochs
      if session.isUpdateDue || isLastBatch { try session.applyGradients() }
      if let updates = options.updates, session.updateCount - firstUpdate >= updates {
        isDone = true
      }
      return event
    }

    /// The batches after the present one, to the end of the next epoch or of the run.
    private func laterBatches() -> [Batch] {
      var later = Array(batches[(next + 1)...])
      if epoch + 1 != options.epochs { later += order.batches(epoch: epoch + 1) }
      guard let updates = options.updates else { return later }
      return Array(later.prefix(session.batchCount(toUpdate: firstUpdate + updates) - 1))
    }

    private func endEpoch() throws -> TrainingEvent {
      let evaluation =
        validation.isEmpty
        ? nil
        : try session.evaluate(
          validation, batchSize: options.batchSize, features: validationCache)
      let event = event(
        .epoch, batchLoss: last?.batchLoss ?? 0, rate: last?.learningRate ?? 0, evaluation)
      epoch += 1
      if epoch == options.epochs {
        isDone = true
      } else {
        batches = order.batches(epoch: epoch)
        next = 0
        lossSum = 0
        exampleCount = 0
      }
      return event
    }

    private func event(
      _ kind: TrainingEvent.Kind, batchLoss: Double, rate: Float, _ validation: Evaluation? = nil
    ) -> TrainingEvent {
      TrainingEvent(
        kind: kind, epoch: epoch + 1,
        step: kind == .batch ? session.updateCount + 1 : session.updateCount,
        batch: next, batchCount: batches.count, batchLoss: batchLoss,
        loss: lossSum / Double(Swift.max(1, exampleCount)), learningRate: rate,
        validation: validation)
    }
  }
}
