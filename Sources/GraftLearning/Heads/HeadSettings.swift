import GraftDiagnostics

/// A kind of head with all its settings: what an automatic choice chooses among.
public enum HeadSettings: Sendable, Hashable, Codable {
  case nearestMean(FeatureDistance)
  /// Least squares with the penalty `l2`.
  case linear(l2: Double, FeatureScaling)
  case logistic(c: Double, FeatureScaling)
  case neighbors(k: Int, NearestNeighbors.Weighting, FeatureDistance)
  /// Trained with the defaults of `NetworkTraining` and the choice's seed.
  case perceptron(hidden: [Int])

  /// All but perceptrons, which take much longer: nearest means, least squares, logistic regression and
  /// nearest neighbours.
  public static let standard: [HeadSettings] = {
    var all: [HeadSettings] = FeatureDistance.allCases.map { .nearestMean($0) }
    all += [1, 10, 100, 1000].map { .linear(l2: $0, .standard) }
    all += [0.001, 0.01, 0.1, 1, 10].map { .logistic(c: $0, .standard) }
    all += [0.01, 0.1, 1, 10].map { .logistic(c: $0, .none) }
    for distance in FeatureDistance.allCases {
      all += [1, 3, 5, 7].map { .neighbors(k: $0, .uniform, distance) }
      all += [3, 5, 7].map { .neighbors(k: $0, .inverseDistance, distance) }
    }
    return all
  }()

  /// A classifier with these settings that has not learned yet.
  ///
  /// - Throws: `invalidArgument` when k is below 1.
  public func classifier(seed: UInt64 = 0) throws -> any FeatureClassifier {
    switch self {
    case .nearestMean(let distance): return NearestMean(distance: distance)
    case .linear(let l2, let scaling):
      return LinearClassifier(.leastSquares(l2: l2), scaling: scaling)
    case .logistic(let c, let scaling): return LogisticRegression(c: c, scaling: scaling)
    case .neighbors(let k, let weighting, let distance):
      return try NearestNeighbors(k: k, weighting: weighting, distance: distance)
    case .perceptron(let hidden):
      var training = NetworkTraining()
      training.seed = seed
      return MultilayerPerceptron(hidden: hidden, training: training)
    }
  }

  /// The smaller, the simpler: first by kind, then by how freely the classifier follows the examples.
  var complexity: (kind: Int, freedom: Double) {
    switch self {
    case .nearestMean(let distance): (0, distance == .euclidean ? 0 : 1)
    case .linear(let l2, _): (1, -l2)
    case .logistic(let c, let scaling): (2, scaling == .standard ? c : c + 1e-9)
    case .neighbors(let k, let weighting, let distance):
      (
        3,
        -Double(k) + (weighting == .uniform ? 0 : 0.25) + (distance == .euclidean ? 0 : 0.125)
      )
    case .perceptron(let hidden): (4, Double(hidden.reduce(0, &+)))
    }
  }
}

extension HeadSettings: CustomStringConvertible {
  public var description: String {
    func text(_ scaling: FeatureScaling) -> String {
      scaling == .standard ? "standardised" : "features as they are"
    }
    func text(_ distance: FeatureDistance) -> String {
      distance == .cosine ? "cosine" : "Euclidean"
    }
    switch self {
    case .nearestMean(let distance): return "nearest class mean, \(text(distance))"
    case .linear(let l2, let scaling): return "linear (least squares), l2 = \(l2), \(text(scaling))"
    case .logistic(let c, let scaling): return "logistic regression, C = \(c), \(text(scaling))"
    case .neighbors(let k, let weighting, let distance):
      let weight = weighting == .uniform ? "uniform" : "inverse distance"
      return "k-NN, k = \(k), \(weight), \(text(distance))"
    case .perceptron(let hidden):
      let sizes = hidden.map(String.init).joined(separator: ", ")
      return "multilayer perceptron, hidden \(sizes)"
    }
  }
}
