import GraftDiagnostics
import GraftTensor

/// How predicted classes agree with the right ones.
public struct ClassificationMetrics: Sendable, Codable, Equatable {
  /// How many classes there are.
  public let classCount: Int
  /// How often each class was the right one and was predicted.
  public private(set) var rightCounts: [Int]
  /// How often each class was the right one.
  public private(set) var actualCounts: [Int]
  /// How often each class was predicted.
  public private(set) var predictedCounts: [Int]
  /// How often the right class's score had each place, the highest first.
  private var rankCounts: [Int]
  /// How often a class, the row, was predicted as another, the column. Nil with more than 256
  /// classes.
  public private(set) var confusion: [[Int]]?

  private static let largestConfusion = 256

  package init(classCount: Int) {
    self.classCount = classCount
    let zeros = [Int](repeating: 0, count: classCount)
    rightCounts = zeros
    actualCounts = zeros
    predictedCounts = zeros
    rankCounts = zeros
    confusion =
      classCount <= Self.largestConfusion ? [[Int]](repeating: zeros, count: classCount) : nil
  }

  /// How many predictions were counted.
  public var count: Int { actualCounts.reduce(0, +) }

  /// The share of right predictions; 0 without any.
  public var accuracy: Double { Double(rightCounts.reduce(0, +)) / Double(max(1, count)) }

  /// For each class, the share of right ones among the predictions of it; nil when it was never
  /// predicted.
  public var precision: [Double?] { Self.shares(rightCounts, of: predictedCounts) }

  /// For each class, the share of predictions of it where it was the right one; nil when it never
  /// was.
  public var recall: [Double?] { Self.shares(rightCounts, of: actualCounts) }

  /// For each class, the harmonic mean of precision and recall, 2 right / (predicted + actual); nil
  /// when the class was neither right nor predicted.
  public var f1: [Double?] {
    Self.shares(rightCounts.map { 2 * $0 }, of: zip(predictedCounts, actualCounts).map(+))
  }

  /// The share of predictions where the right class was among the `k` with the highest scores.
  public func topAccuracy(_ k: Int) -> Double {
    Double(rankCounts.prefix(max(0, k)).reduce(0, +)) / Double(max(1, count))
  }

  private static func shares(_ parts: [Int], of wholes: [Int]) -> [Double?] {
    zip(parts, wholes).map { $1 > 0 ? Double($0) / Double($1) : nil }
  }

  /// Counts one line of scores, one for each class. Of equal scores the first counts as the highest;
  /// a score that is no number is the lowest.
  package mutating func add(scores: [Double], actual: Int) {
    guard scores.count == classCount, scores.indices.contains(actual) else { return }
    let scores = scores.map { $0.isNaN ? -.infinity : $0 }
    let predicted = scores.indices.max { scores[$0] < scores[$1] } ?? 0
    let rank = scores.indices.count {
      scores[$0] > scores[actual] || (scores[$0] == scores[actual] && $0 < actual)
    }
    actualCounts[actual] += 1
    predictedCounts[predicted] += 1
    rankCounts[rank] += 1
    if predicted == actual { rightCounts[actual] += 1 }
    confusion?[actual][predicted] += 1
  }
}

extension ClassificationMetrics {
  /// Counts scores [batch, classes, ...] against class numbers [batch, ...]. Those that are none of the
  /// classes, or the ignored one, do not count.
  mutating func add(_ output: Tensor, classes: Tensor, ignoring ignored: Int? = nil) throws {
    guard output.shape.rank >= 2, output.shape[1] == classCount, let scores = output.numbers,
      let labels = classes.integers, labels.count * classCount == scores.count
    else {
      throw GraftError(
        .shapeMismatch,
        "an output of shape \(output.shape) holds no scores of \(classCount) classes for targets "
          + "of shape \(classes.shape)")
    }
    let inner = max(1, output.shape.elementCount(in: 2..<output.shape.rank))
    for (index, label) in labels.enumerated() where label != ignored {
      let start = index / inner * classCount * inner + index % inner
      add(scores: (0..<classCount).map { scores[start + $0 * inner] }, actual: label)
    }
  }

  /// Counts logits against targets from 0 to 1, each for itself: above 0 a logit means yes, from 0.5
  /// on a target does.
  mutating func add(_ output: Tensor, probabilities: Tensor) throws {
    guard let logits = output.numbers, logits.count == probabilities.elementCount,
      let targets = probabilities.numbers ?? probabilities.integers?.map(Double.init)
    else {
      throw GraftError(
        .shapeMismatch,
        "logits of shape \(output.shape) do not fit targets of shape \(probabilities.shape)")
    }
    for (logit, target) in zip(logits, targets) {
      add(scores: [0, logit], actual: target >= 0.5 ? 1 : 0)
    }
  }
}
