import Foundation
import GraftDiagnostics
import GraftTensor

/// How a session trains, beside what and with which loss.
public struct TrainingOptions: Sendable {
  public var schedule = LearningRateSchedule.constant
  /// The largest absolute value of an element of a gradient; larger ones are cut off there, before
  /// the norm is limited. Nil: no limit.
  public var clipValue: Float?
  /// The largest norm of all gradients together; larger ones are scaled down to it. Nil: no limit.
  public var clipNorm: Float?
  /// Parameters with a rate and a decay of their own.
  public var groups: [ParameterGroup] = []
  /// Batches whose gradients are added up, not averaged, before each update. Groups run on across
  /// the ends of epochs; a rest is applied when the run ends.
  public var accumulation = 1
  public var batchNormalization = BatchNormalizationMode.auto
  public var dropout = DropoutMode.model
  /// What dropout draws from: the same seed drops the same elements.
  public var dropoutSeed: UInt64 = 0
  /// Threads for the kernels; all cores when nil.
  public var threads: Int?
  /// Bytes of features kept in memory.
  public var featureMemory = 1 << 30
  /// Bytes of features kept in files beyond that.
  public var featureDisk = 8 << 30
  /// A folder that keeps features for later sessions with the same frozen layers and examples; it
  /// holds what the layers make of the examples. Nil: files go with the session.
  public var featureFolder: URL?

  public init() {}

  /// - Throws: `invalidArgument` when a number is out of its range.
  package func check() throws {
    if let clipValue { try NumberCheck.positive(clipValue, "the value to clip at") }
    if let clipNorm { try NumberCheck.positive(clipNorm, "the norm to clip at") }
    for group in groups { try group.check() }
    try schedule.check()
    guard accumulation >= 1 else {
      throw GraftError(
        .invalidArgument, "\(accumulation) batches cannot be added up",
        fix: "Choose 1 or more batches")
    }
    if let threads, threads < 1 {
      throw GraftError(.invalidArgument, "\(threads) threads cannot run", fix: "Choose 1 or more")
    }
  }
}
