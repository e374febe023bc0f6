import GraftDiagnostics
import GraftGraph
import GraftTensor

/// What is done to features before a linear classifier learns from them. It becomes part of the weights.
public enum FeatureScaling: String, Sendable, Codable, CaseIterable {
  /// Nothing.
  case none
  /// Each feature has its mean taken away and is divided by its standard deviation over the examples.
  case standard
}

/// Multinomial logistic regression with an L2 penalty, by L-BFGS.
///
/// Minimises C * sum of -log(softmax(W x + b)[class]) + ½ * sum of W². With two classes the
/// difference of both rows is what is penalised. So the weights are those of scikit-learn's
/// `LogisticRegression(C=C)`. The scores are the softmax of W x + b.
///
/// Complexity: each step is linear in examples * min(examples, features) * classes.
public struct LogisticRegression: FeatureClassifier {
  public static let kind = "logisticRegression"

  /// The inverse strength of the penalty, above 0.
  public var c: Double
  public var scaling: FeatureScaling
  /// Steps after which the search ends in any case.
  public var maximumIterations: Int
  public private(set) var classes: [ClassLabel] = []
  private var layer: LinearLayer?

  public init(c: Double = 1, scaling: FeatureScaling = .standard, maximumIterations: Int = 1000) {
    self.c = c
    self.scaling = scaling
    self.maximumIterations = maximumIterations
  }

  public var dimension: Int? { layer?.inputCount }
  /// W [classes, dimension], for features as they are given; nil before fitting.
  public var weight: Tensor? { layer?.weight }
  /// b [classes]; nil before fitting.
  public var bias: Tensor? { layer?.bias }

  public mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws {
    try checkSettings()
    let rows = try FeatureRows(features, count: labels.count)
    let assignment = ClassAssignment(labels)
    try assignment.requireTwoClasses()
    layer = try fitted(try rows.matrix, assignment)
    classes = assignment.classes
  }

  private func checkSettings() throws {
    guard c > 0, c.isFinite else {
      throw GraftError(.invalidArgument, "C is \(c)", fix: "Choose a finite number above 0")
    }
    guard maximumIterations >= 1 else {
      throw GraftError(
        .invalidArgument, "the largest number of iterations is \(maximumIterations)",
        fix: "Choose 1 or more")
    }
  }

  private func fitted(_ rows: DenseMatrix, _ assignment: ClassAssignment) throws -> LinearLayer {
    let means = rows.columnMeans
    let deviations = rows.columnDeviations(around: means)
    var minimizer = LBFGS()
    minimizer.maximumIterations = maximumIterations
    let classCount = assignment.classes.count
    func regression(_ coordinates: DenseMatrix) -> SoftmaxRegression {
      SoftmaxRegression(
        coordinates: coordinates, classes: assignment.indices, classCount: classCount)
    }
    func parts(_ point: [Double], _ size: Int) -> (DenseMatrix, [Double]) {
      (
        DenseMatrix(rows: classCount, columns: size, values: Array(point[..<(classCount * size)])),
        Array(point[(classCount * size)...])
      )
    }
    if rows.rows > rows.columns {
      // Standardised coordinates make the search short; the penalty undoes them where they are not
      // wanted.
      var problem = regression(rows.standardized(means: means, deviations: deviations))
      if scaling == .none { problem.penalties = deviations.map { 1 / ($0 * $0) } }
      let (weight, bias) = parts(problem.fit(c: c, with: minimizer).point, rows.columns)
      return try LinearLayer(weight: weight, bias: bias, means: means, deviations: deviations)
    }
    let scales = scaling == .standard ? deviations : [Double](repeating: 1, count: rows.columns)
    let scaled = rows.standardized(means: means, deviations: scales)
    let space = RowSpace(gram: scaled.gram)
    let result = regression(space.coordinates).fit(c: c, with: minimizer)
    let (weight, bias) = parts(result.point, space.pivots.count)
    let whole = space.weights(onPivots: weight).times(scaled.selecting(rows: space.pivots))
    return try LinearLayer(weight: whole, bias: bias, means: means, deviations: scales)
  }

  public func scores(_ features: Tensor) throws -> [[Double]] {
    guard let layer else { throw Self.unfitted }
    let logits = try layer(FeatureRows(features, dimension: layer.inputCount).matrix)
    return logits.softmaxRows
  }

  public func model() throws -> Model {
    guard let layer else { throw Self.unfitted }
    return try Model(classifying: layer.inputCount, classes: classes.count) { builder, features in
      let logits = layer.add(to: &builder, features, named: "logits")
      return builder.add("Softmax", [logits], ["axis": .int(1)], named: "scores")
    }
  }
}

extension LogisticRegression {
  private struct Settings: Codable {
    var c: Double
    var scaling: FeatureScaling
    var maximumIterations: Int
  }

  public var contents: ClassifierContents {
    get throws {
      guard let layer else { throw Self.unfitted }
      return try ClassifierContents(
        kind: Self.kind, classes: classes,
        settings: Settings(c: c, scaling: scaling, maximumIterations: maximumIterations),
        tensors: layer.tensors("logits"))
    }
  }

  public init(_ contents: ClassifierContents) throws {
    let settings = try contents.settings(as: Settings.self)
    self.init(
      c: settings.c, scaling: settings.scaling, maximumIterations: settings.maximumIterations)
    classes = contents.classes
    layer = try LinearLayer(contents, "logits", outputs: classes.count)
  }
}

extension DenseMatrix {
  var softmaxRows: [[Double]] {
    (0..<rows).map { index in
      var line = Array(row(index))
      line.replaceBySoftmax()
      return line
    }
  }
}
