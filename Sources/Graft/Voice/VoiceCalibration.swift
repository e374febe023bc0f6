import Foundation
import GraftLearning

/// Chooses the decision threshold from the scores of recordings and speakers left out.
///
/// A handful of scores say little about a threshold, so the usual one, 0.80, is kept unless they speak
/// against it: it is raised until nobody who was left out passes, to 0.90 at most, and lowered when it
/// would reject more than a third of the people's own recordings.
struct VoiceCalibration {
  static let usualThreshold = 0.8
  private static let highestThreshold = 0.9
  /// How far above the highest score of others the threshold is raised, in logits.
  private static let margin = 0.1

  let scores: DetectionScores

  init(_ scores: DetectionScores) { self.scores = scores }

  /// Whether there are scores of both kinds.
  var isReliable: Bool { !scores.positives.isEmpty && !scores.negatives.isEmpty }

  var threshold: Double {
    guard isReliable, let highestOther = scores.negatives.max() else { return Self.usualThreshold }
    let usual = logit(Self.usualThreshold)
    let balanced = balancedCut
    let rejected = scores.positives.count { $0 < Self.usualThreshold }
    if rejected * 3 > scores.positives.count { return probability(min(balanced, usual)) }
    let raised = max(usual, min(logit(highestOther) + Self.margin, balanced))
    return probability(min(raised, logit(Self.highestThreshold)))
  }

  /// The logit at which the larger of the two error rates is smallest; the mean where several are.
  private var balancedCut: Double {
    let sorted = Set((scores.positives + scores.negatives).map(logit)).sorted()
    let cuts = zip(sorted, sorted.dropFirst()).map { ($0 + $1) / 2 }
    let errors = cuts.map { cut in
      let rates = scores.errorRates(at: probability(cut))
      return max(rates.missed, rates.accepted)
    }
    guard let least = errors.min() else { return logit(Self.usualThreshold) }
    let best = zip(cuts, errors).filter { $1 == least }.map(\.0)
    return best.reduce(0, +) / Double(best.count)
  }

  private func logit(_ probability: Double) -> Double {
    let p = min(max(probability, 1e-7), 1 - 1e-7)
    return log(p / (1 - p))
  }

  private func probability(_ logit: Double) -> Double {
    // The usual threshold comes back as the number it is.
    logit == self.logit(Self.usualThreshold) ? Self.usualThreshold : 1 / (1 + exp(-logit))
  }
}
