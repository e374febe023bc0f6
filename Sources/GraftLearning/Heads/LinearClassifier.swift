import GraftDiagnostics
import GraftGraph
import GraftTensor

/// One fully connected layer on features.
public struct LinearClassifier: FeatureClassifier {
  public static let kind = "linear"

  /// How the layer learns.
  public enum Method: Sendable, Codable {
    /// Least squares from the features to 1 for an example's class and 0 for the others, with `l2` times
    /// the sum of squared weights added; the bias is not penalised. The scores are the layer's outputs:
    /// they add up to 1, and some may be below 0.
    case leastSquares(l2: Double)
    /// Cross entropy by gradient descent in batches. The scores are the softmax of the outputs.
    case softmax(NetworkTraining)
  }

  public var method: Method
  /// For least squares; a softmax layer's is in its `NetworkTraining`.
  public var scaling: FeatureScaling
  public private(set) var classes: [ClassLabel] = []
  private var layer: LinearLayer?

  public init(_ method: Method = .leastSquares(l2: 1), scaling: FeatureScaling = .standard) {
    self.method = method
    self.scaling = scaling
  }

  public var dimension: Int? { layer?.inputCount }
  /// [classes, dimension]; nil before fitting.
  public var weight: Tensor? { layer?.weight }
  /// [classes]; nil before fitting.
  public var bias: Tensor? { layer?.bias }

  public mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws {
    let rows = try FeatureRows(features, count: labels.count)
    let assignment = ClassAssignment(labels)
    try assignment.requireTwoClasses()
    switch method {
    case .leastSquares(let l2): layer = try fitted(try rows.matrix, assignment, l2: l2)
    case .softmax(let training):
      layer = try training.layers(hidden: [], rows, assignment).first
    }
    classes = assignment.classes
  }

  private func fitted(_ rows: DenseMatrix, _ assignment: ClassAssignment, l2: Double) throws
    -> LinearLayer
  {
    guard l2 >= 0, l2.isFinite else {
      throw GraftError(
        .invalidArgument, "the penalty is \(l2)", fix: "Choose a finite number that is not negative"
      )
    }
    let means = rows.columnMeans
    let scales =
      scaling == .standard
      ? rows.columnDeviations(around: means) : [Double](repeating: 1, count: rows.columns)
    let x = rows.standardized(means: means, deviations: scales)
    let shares = LeastSquares.shares(assignment.indices, classCount: assignment.classes.count)
    let y = LeastSquares.indicators(assignment.indices, shares: shares)
    let solver = LeastSquares(l2: l2)
    let weight =
      x.rows < x.columns
      ? solver.exampleWeights(gram: x.gram, indicators: y).transposed.times(x)
      : solver.featureWeights(centred: x, indicators: y).transposed
    return try LinearLayer(weight: weight, bias: shares, means: means, deviations: scales)
  }

  private var isSoftmax: Bool {
    if case .softmax = method { true } else { false }
  }

  public func scores(_ features: Tensor) throws -> [[Double]] {
    guard let layer else { throw Self.unfitted }
    let outputs = try layer(FeatureRows(features, dimension: layer.inputCount).matrix)
    return isSoftmax ? outputs.softmaxRows : (0..<outputs.rows).map { Array(outputs.row($0)) }
  }

  public func model() throws -> Model {
    guard let layer else { throw Self.unfitted }
    return try Model(classifying: layer.inputCount, classes: classes.count) { builder, features in
      guard isSoftmax else { return layer.add(to: &builder, features, named: "scores") }
      let logits = layer.add(to: &builder, features, named: "logits")
      return builder.add("Softmax", [logits], ["axis": .int(1)], named: "scores")
    }
  }
}

extension LinearClassifier {
  private struct Settings: Codable {
    var method: Method
    var scaling: FeatureScaling
  }

  public var contents: ClassifierContents {
    get throws {
      guard let layer else { throw Self.unfitted }
      return try ClassifierContents(
        kind: Self.kind, classes: classes, settings: Settings(method: method, scaling: scaling),
        tensors: layer.tensors("logits"))
    }
  }

  public init(_ contents: ClassifierContents) throws {
    let settings = try contents.settings(as: Settings.self)
    self.init(settings.method, scaling: settings.scaling)
    classes = contents.classes
    layer = try LinearLayer(contents, "logits", outputs: classes.count)
  }
}
