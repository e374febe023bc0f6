import Foundation
import GraftDiagnostics

/// How long a session fits, in which order, and what is kept on the way.
public struct FitOptions: Sendable {
  /// Passes over the data; nil for as many as the updates take.
  public var epochs: Int?
  /// Updates after which the run ends, in the middle of an epoch if need be; nil for no limit.
  public var updates: Int?
  public var batchSize: Int
  /// Nil for the order in which the examples are given.
  public var shuffleSeed: UInt64?
  /// What happens with the last batch of a set when too few examples are left to fill it.
  public var lastBatch = LastBatch.keep
  /// Whether examples of rare classes are drawn several times in an epoch, so that all classes come
  /// up equally often. The targets must be class numbers.
  public var balancesClasses = false
  /// Nil: the run never ends early.
  public var earlyStopping: EarlyStopping?
  /// Nil: no checkpoints are written.
  public var checkpoints: CheckpointOptions?

  public init(
    epochs: Int? = 1, updates: Int? = nil, batchSize: Int = 1, shuffleSeed: UInt64? = nil
  ) {
    self.epochs = epochs
    self.updates = updates
    self.batchSize = batchSize
    self.shuffleSeed = shuffleSeed
  }

  /// - Throws: `invalidArgument` when a number is out of its range.
  func check() throws {
    func require(_ value: Int?, _ name: String) throws {
      guard let value, value < 1 else { return }
      throw GraftError(
        .invalidArgument, "the \(name) is \(value)", fix: "Choose 1 or more")
    }
    try require(epochs, "number of epochs")
    try require(updates, "number of updates")
    try require(batchSize, "batch size")
    guard epochs != nil || updates != nil else {
      throw GraftError(
        .invalidArgument, "the run would never end", fix: "Give a number of epochs or of updates")
    }
    try require(earlyStopping?.patience, "patience of early stopping")
    if let change = earlyStopping?.minimumChange, !(change >= 0 && change.isFinite) {
      throw GraftError(
        .invalidArgument, "the smallest change that counts for early stopping is \(change)",
        fix: "Choose a finite number that is not negative")
    }
    try checkpoints?.check()
  }
}

/// Ends a run when epochs no longer make the model better.
public struct EarlyStopping: Sendable, Equatable {
  /// The run ends after so many epochs in a row that bring nothing; at least 1.
  public var patience: Int
  /// By how much the loss must fall to count as better.
  public var minimumChange: Double
  /// Whether the run ends with the weights of the best epoch.
  public var restoresBest: Bool

  /// The loss of the validation data is watched; without such data, that of the training.
  public init(patience: Int, minimumChange: Double = 0, restoresBest: Bool = true) {
    self.patience = patience
    self.minimumChange = minimumChange
    self.restoresBest = restoresBest
  }
}

/// Where and how often the state of a run is written down.
public struct CheckpointOptions: Sendable {
  /// Made when it is not there. A run that does not go on from one of its checkpoints takes a folder
  /// without checkpoints only.
  public var folder: URL
  /// Updates from one checkpoint to the next; nil for none in between.
  public var everySteps: Int?
  /// Seconds of training from one checkpoint to the next; nil for none in between.
  public var everySeconds: Double?
  /// Whether one is written after every epoch. The end of a run writes one in any case.
  public var everyEpoch = true
  /// How many are kept; older ones of the same run are removed.
  public var keepLast = 3
  /// Whether the best epoch so far is kept beside them, as `best.safetensors`.
  public var keepBest = true

  public init(folder: URL, everySteps: Int? = nil, everySeconds: Double? = nil) {
    self.folder = folder
    self.everySteps = everySteps
    self.everySeconds = everySeconds
  }

  func check() throws {
    for (name, value) in [
      ("updates from one checkpoint to the next", everySteps ?? 1),
      ("checkpoints to keep", keepLast),
    ]
    where value < 1 {
      throw GraftError(
        .invalidArgument, "the number of \(name) is \(value)", fix: "Choose 1 or more")
    }
    if let everySeconds, !(everySeconds > 0) {
      throw GraftError(
        .invalidArgument,
        "the number of seconds from one checkpoint to the next is \(everySeconds)",
        fix: "Choose a number above 0")
    }
  }
}
