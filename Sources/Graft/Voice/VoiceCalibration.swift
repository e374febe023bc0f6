import Foundation
import GraftLearning

/// Chooses the decision threshold from the scores of recordings and speakers left out.
struct VoiceCalibration {
  static let usualThreshold = 0.8
  let scores: DetectionScores

  init(_ scores: DetectionScores) { self.scores = scores }

  /// Whether there are scores of both kinds.
  var isReliable: Bool { !scores.positives.isEmpty && !scores.negatives.isEmpty }

  /// The usual threshold unless the scores speak against it: among the thresholds with the fewest
  /// errors, the one closest to it.
  var threshold: Double {
    guard isReliable else { return Self.usualThreshold }
    let sorted = Set(scores.positives + scores.negatives).sorted()
    let between = zip(sorted, sorted.dropFirst()).map { ($0 + $1) / 2 }
    var best = Self.usualThreshold
    var bestAccuracy = scores.accuracy(at: best) ?? 0
    for candidate in between.sorted(by: { distance($0) < distance($1) }) {
      let accuracy = scores.accuracy(at: candidate) ?? 0
      if accuracy > bestAccuracy { (best, bestAccuracy) = (candidate, accuracy) }
    }
    return best
  }

  private func distance(_ threshold: Double) -> Double { abs(threshold - Self.usualThreshold) }
}
