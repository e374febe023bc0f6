import Foundation

/// What happened while a model trains.
public struct TrainingEvent: Sendable {
  public enum Kind: String, Sendable, Codable {
    /// Everything is ready; no batch has run.
    case begin
    /// A batch went through the model.
    case batch
    /// All batches of an epoch did.
    case epoch
    /// A checkpoint was written, or could not be: then there is a warning.
    case checkpoint
    /// The run is over; no event follows.
    case end
  }

  public let kind: Kind
  /// Counted from 1. Of events between two epochs, the one that is over.
  public let epoch: Int
  /// The optimizer update that the batch belongs to, counted from 1; of other events, the last
  /// update.
  public let step: Int
  /// The batch's number in its epoch, counted from 1, and how many there are.
  public let batch: Int
  public let batchCount: Int
  /// The last batch's loss, before its update; NaN before the first batch.
  public let batchLoss: Double
  /// The mean loss of the epoch so far, weighted by the number of examples; NaN before the first
  /// batch.
  public let loss: Double
  /// The learning rate of the update that the batch belongs to; of other events, of the last
  /// update.
  public let learningRate: Float
  /// The norm of all gradients together at the last update, before they were limited; nil before
  /// the first.
  public let gradientNorm: Double?
  /// Examples per second of training, over the last batches; time that passes outside of `next` does
  /// not count. Nil before the first batch of this run.
  public let examplesPerSecond: Double?
  /// How long the rest of the run takes at that pace, validation not counted; nil when unknown.
  public let timeLeft: Duration?
  /// At the end of an epoch, when there are validation data; at the end of the run that of the last
  /// epoch, or of the best one when its weights were restored.
  public let validation: Evaluation?
  /// The file of a checkpoint that was written.
  public let checkpoint: URL?
  /// What the user should know: a checkpoint that could not be written, damaged ones that were
  /// passed over.
  public let warning: String?
  /// Why the run ended, with `end`.
  public let reason: EndReason?

  /// Why a run ended.
  public enum EndReason: String, Sendable, Codable {
    /// All epochs or updates are done.
    case completed
    /// The watched value did not get better any more.
    case earlyStopping
    /// `TrainingControl.stop` was called.
    case stopped
  }
}

/// One epoch of a run, for its history.
public struct EpochRecord: Sendable, Codable, Equatable {
  /// Counted from 1.
  public let epoch: Int
  /// The updates so far.
  public let step: Int
  /// The epoch's mean loss.
  public let loss: Double
  /// The learning rate of the epoch's last update.
  public let learningRate: Float
  /// Nil without validation data.
  public let validationLoss: Double?
  /// Nil without validation data, or for a loss that is not one of classes.
  public let validationAccuracy: Double?
}
