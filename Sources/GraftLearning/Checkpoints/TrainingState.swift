import GraftDiagnostics
import GraftTensor

/// What a session is beside its tensors.
package struct SessionState: Sendable, Codable, Equatable {
  /// Tells models apart: structure and frozen values.
  var model: String
  var trainable: [String]
  var loss: String
  var optimizer: Optimizer
  var clipNorm: Float?
  var clipValue: Float?
  var accumulation: Int
  var schedule: LearningRateSchedule
  var plateau: PlateauState?
  var updateCount: Int
  /// Batches run so far: which masks the next dropout draws.
  var batchCount: Int
  /// Batches since the last update.
  var accumulatedBatches: Int
  var learningRate: Float
  var gradientNorm: Double?
  var properties: [String: TrainingProperty]
}

/// Where a run stands between two batches.
package struct RunState: Sendable, Codable, Equatable {
  /// What the order of the batches depends on.
  struct Settings: Sendable, Codable, Equatable {
    var exampleCounts: [Int]
    var batchSize: Int
    var shuffleSeed: UInt64?
    var lastBatch: LastBatch
    var balancesClasses: Bool
  }

  /// The best epoch so far.
  struct Best: Sendable, Codable, Equatable {
    var loss: Double
    var epoch: Int
    var validation: Evaluation?
  }

  var settings: Settings
  /// Epochs that are over.
  var epoch = 0
  /// Batches of the epoch that are over.
  var batch = 0
  /// The sum of the epoch's losses so far, over the examples, and their number.
  var lossSum = 0.0
  var exampleCount = 0
  /// The updates of the session before the run began.
  var firstUpdate: Int
  var batchLoss = Double.nan
  var loss = Double.nan
  var learningRate: Float
  var best: Best?
  /// Epochs in a row that were not better.
  var waitedEpochs = 0
  var validation: Evaluation?
  var history: [EpochRecord] = []

  init(_ settings: Settings, firstUpdate: Int, learningRate: Float) {
    self.settings = settings
    self.firstUpdate = firstUpdate
    self.learningRate = learningRate
  }
}

/// A value of the property bag: what an app wants to keep with a checkpoint.
public enum TrainingProperty: Sendable, Codable, Equatable {
  case integer(Int64)
  case number(Float)
  case text(String)
}

extension SessionState {
  /// - Throws: `damaged` when a count is impossible.
  func check() throws {
    try checkCounts([updateCount, batchCount, accumulatedBatches, accumulation])
    guard learningRate.isFinite, learningRate >= 0 else {
      throw GraftError(.damaged, "the learning rate is \(learningRate)")
    }
  }
}

extension RunState {
  /// - Throws: `damaged` when a count is impossible.
  func check() throws {
    try checkCounts(
      settings.exampleCounts + [
        settings.batchSize, epoch, batch, exampleCount, firstUpdate, waitedEpochs,
        best?.epoch ?? 0,
      ])
  }

  /// - Throws: `badData` when a run with other settings cannot go on from here.
  func check(against other: Settings) throws {
    func require<T: Equatable>(_ name: String, _ here: T, _ there: T) throws {
      guard here != there else { return }
      throw GraftError(
        .badData, "the checkpoint was written with the \(name) \(here), and this run has \(there)",
        fix: "Go on with the same examples and options, or begin a new run")
    }
    try require("numbers of examples", settings.exampleCounts, other.exampleCounts)
    try require("batch size", settings.batchSize, other.batchSize)
    try require(
      "shuffling seed", settings.shuffleSeed.map(String.init) ?? "none",
      other.shuffleSeed.map(String.init) ?? "none")
    try require("last batch", settings.lastBatch.rawValue, other.lastBatch.rawValue)
    try require("class balance", settings.balancesClasses, other.balancesClasses)
  }
}

private func checkCounts(_ counts: [Int]) throws {
  guard let wrong = counts.first(where: { !(0..<1 << 48).contains($0) }) else { return }
  throw GraftError(.damaged, "a count is \(wrong)")
}
