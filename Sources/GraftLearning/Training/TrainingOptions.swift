import Foundation
import GraftDiagnostics
import GraftTensor

/// How a session trains, beside what and with which loss.
public struct TrainingOptions: Sendable {
  public var schedule = LearningRateSchedule.constant
  /// The largest norm of all gradients together; larger ones are scaled down to it. Nil: no limit.
  public var clipNorm: Float?
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
    if let clipNorm, !(clipNorm > 0) {
      throw GraftError(
        .invalidArgument, "the norm to clip at is \(clipNorm)", fix: "Choose a number above 0")
    }
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
