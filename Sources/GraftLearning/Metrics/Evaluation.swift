import GraftTensor

/// How a model does on examples.
public struct Evaluation: Sendable, Codable, Equatable {
  /// The mean loss over the examples.
  public let loss: Double
  public let exampleCount: Int
  /// With a loss of classes, or one of probabilities (then class 0 means no and class 1 yes).
  public let classification: ClassificationMetrics?
  /// With every other loss that compares as many outputs as targets.
  public let regression: RegressionMetrics?

  package init(
    loss: Double, exampleCount: Int, classification: ClassificationMetrics? = nil,
    regression: RegressionMetrics? = nil
  ) {
    self.loss = loss
    self.exampleCount = exampleCount
    self.classification = classification
    self.regression = regression
  }

  /// The share of right classes; nil unless the loss is one of classes or probabilities.
  public var accuracy: Double? { classification?.accuracy }
}

/// The sums behind an evaluation, batch by batch.
struct EvaluationSums {
  let kind: Loss.TargetKind
  private var lossSum = 0.0
  private var count = 0
  private var classification: ClassificationMetrics?
  private var regression: RegressionMetrics?

  init(_ kind: Loss.TargetKind) { self.kind = kind }

  /// - Parameters:
  ///   - loss: the batch's mean.
  ///   - targets: one row for each of the batch's examples.
  mutating func add(loss: Double, output: Tensor, targets: Tensor) throws {
    let rowCount = targets.shape.first ?? 0
    lossSum += loss * Double(rowCount)
    count += rowCount
    switch kind {
    case .classes(let ignored):
      var metrics =
        classification
        ?? ClassificationMetrics(classCount: output.shape.rank > 1 ? output.shape[1] : 0)
      try metrics.add(output, classes: targets, ignoring: ignored)
      classification = metrics
    case .probabilities:
      guard output.elementCount == targets.elementCount else { return }
      var metrics = classification ?? ClassificationMetrics(classCount: 2)
      try metrics.add(output, probabilities: targets)
      classification = metrics
    case .values:
      // A loss of the user's own may compare what has other shapes.
      guard output.elementCount == targets.elementCount else { return }
      var metrics = regression ?? RegressionMetrics()
      try metrics.add(output, targets: targets)
      regression = metrics
    }
  }

  var evaluation: Evaluation {
    Evaluation(
      loss: lossSum / Double(max(1, count)), exampleCount: count, classification: classification,
      regression: regression)
  }
}

extension Loss {
  /// What targets mean.
  enum TargetKind {
    /// Class numbers, one of which may count for nothing.
    case classes(ignoring: Int?)
    /// Numbers from 0 to 1, compared with logits.
    case probabilities
    /// Any numbers.
    case values
  }

  var targetKind: TargetKind {
    if isClassification { return .classes(ignoring: ignoredClass) }
    return takesProbabilities ? .probabilities : .values
  }
}
