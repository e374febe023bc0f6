import Foundation
import GraftDiagnostics

/// How the learning rate changes with the optimizer's updates.
///
/// Every case but `reduceOnPlateau` gives a factor of the learning rate for each update, counted from
/// 1; the values are those of the classes of torch.optim.lr_scheduler named below when they step once
/// per update. A number of steps that belongs to epochs is epochs times updates per epoch.
public indirect enum LearningRateSchedule: Sendable, Hashable, Codable {
  case constant
  /// Multiplied by `factor` after every `every` updates. (StepLR)
  case step(every: Int, factor: Float)
  /// Multiplied by `factor` after each of these numbers of updates. (MultiStepLR)
  case multiStep(after: [Int], factor: Float)
  /// Multiplied by `factor` after every update. (ExponentialLR)
  case exponential(factor: Float)
  /// Half a cosine from the whole rate down to `minimum`, a share of the rate, which is reached
  /// after `steps` updates and kept. (CosineAnnealingLR, whose rate rises again then)
  case cosine(steps: Int, minimum: Float = 0)
  /// A straight line from the whole rate down to `minimum`, a share of the rate, which is reached
  /// after `steps` updates and kept. (LinearLR)
  case linear(steps: Int, minimum: Float = 0)
  /// Rises linearly over the first `steps` updates: update t uses t / steps of the rate. Another
  /// schedule follows, which counts its updates from there. (SequentialLR of LinearLR and another)
  case linearWarmUp(steps: Int, then: LearningRateSchedule = .constant)
  /// Multiplied by `factor`, but never below `minimum`, a share of the rate, when the loss has not
  /// become smaller than (1 - threshold) times the smallest so far for more than `patience`
  /// epochs. The validation loss counts, or the training loss without one. (ReduceLROnPlateau)
  case reduceOnPlateau(
    factor: Float = 0.1, patience: Int = 10, threshold: Float = 1e-4, minimum: Float = 0)

  /// A warm-up over `warmUp` updates, then a line down to 0 at the end of `total` updates.
  public static func linear(warmUp: Int, total: Int) -> LearningRateSchedule {
    .linearWarmUp(steps: warmUp, then: .linear(steps: max(0, total) - max(0, warmUp)))
  }

  /// The factor for an update, counted from 1; 1 for `reduceOnPlateau`, whose factor depends on the
  /// losses.
  public func factor(step: Int) -> Float { Float(factor(after: max(1, step) - 1)) }

  /// The factor after a number of updates.
  private func factor(after updates: Int) -> Double {
    switch self {
    case .constant, .reduceOnPlateau: return 1
    case .step(let every, let factor): return pow(Double(factor), Double(updates / max(1, every)))
    case .multiStep(let steps, let factor):
      return pow(Double(factor), Double(steps.count { $0 <= updates }))
    case .exponential(let factor): return pow(Double(factor), Double(updates))
    case .cosine(let steps, let minimum):
      let share = (1 + cos(.pi * Self.progress(updates, of: steps))) / 2
      return Double(minimum) + (1 - Double(minimum)) * share
    case .linear(let steps, let minimum):
      return 1 + (Double(minimum) - 1) * Self.progress(updates, of: steps)
    case .linearWarmUp(let steps, let next):
      return updates < steps
        ? Double(updates + 1) / Double(steps) : next.factor(after: updates - max(0, steps))
    }
  }

  private static func progress(_ updates: Int, of steps: Int) -> Double {
    min(1, Double(updates) / Double(max(1, steps)))
  }

  /// The beginning of `reduceOnPlateau`'s state; nil when there is none in this schedule.
  package var plateau: PlateauState? {
    switch self {
    case .reduceOnPlateau(let factor, let patience, let threshold, let minimum):
      PlateauState(factor: factor, patience: patience, threshold: threshold, minimum: minimum)
    case .linearWarmUp(_, let next): next.plateau
    default: nil
    }
  }

  /// - Throws: `invalidArgument` when a number is out of its range.
  package func check() throws {
    switch self {
    case .constant: break
    case .step(let every, let factor):
      try Self.require(every, atLeast: 1, "the number of updates between two steps of the schedule")
      try NumberCheck.notNegative(factor, "the schedule's factor")
    case .multiStep(let steps, let factor):
      for step in steps { try Self.require(step, atLeast: 1, "a milestone of the schedule") }
      try NumberCheck.notNegative(factor, "the schedule's factor")
    case .exponential(let factor): try NumberCheck.notNegative(factor, "the schedule's factor")
    case .cosine(let steps, let minimum), .linear(let steps, let minimum):
      try Self.require(steps, atLeast: 1, "the schedule's number of updates")
      try NumberCheck.share(minimum, "the schedule's smallest share")
    case .linearWarmUp(let steps, let next):
      try Self.require(steps, atLeast: 0, "the number of updates of the warm-up")
      try next.check()
    case .reduceOnPlateau(let factor, let patience, let threshold, let minimum):
      try NumberCheck.belowOne(factor, "the factor on a plateau")
      try Self.require(patience, atLeast: 0, "the patience on a plateau")
      try NumberCheck.belowOne(threshold, "the threshold of a plateau")
      try NumberCheck.share(minimum, "the schedule's smallest share")
    }
  }

  private static func require(_ value: Int, atLeast least: Int, _ name: String) throws {
    guard value >= least else {
      throw GraftError(.invalidArgument, "\(name) is \(value)", fix: "Choose \(least) or more")
    }
  }
}

/// What `LearningRateSchedule.reduceOnPlateau` knows of the losses so far.
public struct PlateauState: Sendable, Hashable, Codable {
  private let reduction: Float
  private let patience: Int
  private let threshold: Float
  private let minimum: Float
  /// The smallest loss so far; nil before the first.
  public private(set) var best: Double?
  /// Epochs since the loss last became smaller, or since the last reduction.
  public private(set) var badEpochCount = 0
  /// The factor of the learning rate.
  public private(set) var factor: Float = 1

  package init(factor: Float, patience: Int, threshold: Float, minimum: Float) {
    reduction = factor
    self.patience = patience
    self.threshold = threshold
    self.minimum = minimum
  }

  /// Takes the loss of an epoch into account and gives the factor for the next.
  package mutating func observe(_ loss: Double) -> Float {
    let limit = best.map { $0 * (1 - Double(threshold)) } ?? .infinity
    if loss < limit {
      best = loss
      badEpochCount = 0
    } else {
      badEpochCount += 1
    }
    if badEpochCount > patience {
      factor = max(minimum, factor * reduction)
      badEpochCount = 0
    }
    return factor
  }
}
