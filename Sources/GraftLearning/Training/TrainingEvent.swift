/// What happened while a model trains.
public struct TrainingEvent: Sendable {
  public enum Kind: Sendable {
    /// A batch went through the model.
    case batch
    /// All batches of an epoch did.
    case epoch
  }

  public let kind: Kind
  /// Counted from 1.
  public let epoch: Int
  /// The optimizer update that the batch belongs to, counted from 1.
  public let step: Int
  /// The batch's number in its epoch, counted from 1, and how many there are.
  public let batch: Int
  public let batchCount: Int
  /// The batch's loss, before its update.
  public let batchLoss: Double
  /// The mean loss of the epoch so far, weighted by the number of examples.
  public let loss: Double
  /// The learning rate of the update that the batch belongs to.
  public let learningRate: Float
  /// At the end of an epoch, when there are validation data.
  public let validation: Evaluation?
}

/// How a model does on examples it was not trained on.
public struct Evaluation: Sendable {
  /// The mean loss over the examples.
  public let loss: Double
  /// The share of examples whose largest output is that of their class; nil unless the loss is one
  /// of classes.
  public let accuracy: Double?
  public let exampleCount: Int
}
