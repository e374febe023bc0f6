/// Scores of trials that should and of trials that should not be accepted.
public struct DetectionScores: Sendable {
  /// Of trials that should be accepted.
  public var positives: [Double]
  /// Of trials that should be rejected.
  public var negatives: [Double]

  public init(positives: [Double] = [], negatives: [Double] = []) {
    self.positives = positives
    self.negatives = negatives
  }

  /// The rate at which as many positives are rejected as negatives are accepted, by the threshold
  /// where the two rates lie closest, as their mean; nil without trials of both kinds.
  public var equalErrorRate: Double? {
    guard !positives.isEmpty, !negatives.isEmpty else { return nil }
    var best: (gap: Double, rate: Double)?
    for threshold in thresholds {
      let (missed, accepted) = errorRates(at: threshold)
      let gap = abs(missed - accepted)
      if gap < best?.gap ?? .infinity { best = (gap, (missed + accepted) / 2) }
    }
    return best?.rate
  }

  /// The share of positives below, and of negatives at or above a threshold.
  public func errorRates(at threshold: Double) -> (missed: Double, accepted: Double) {
    let missed = positives.count { $0 < threshold }
    let accepted = negatives.count { $0 >= threshold }
    return (
      Double(missed) / Double(max(1, positives.count)),
      Double(accepted) / Double(max(1, negatives.count))
    )
  }

  /// The share of all trials that a threshold decides right; nil without trials.
  public func accuracy(at threshold: Double) -> Double? {
    let count = positives.count + negatives.count
    guard count > 0 else { return nil }
    let right =
      positives.count { $0 >= threshold } + negatives.count { $0 < threshold }
    return Double(right) / Double(count)
  }

  /// Every score, and one above all.
  private var thresholds: [Double] {
    let scores = Set(positives + negatives).sorted()
    return scores + [(scores.last ?? 0) + 1]
  }
}
