import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The class whose mean lies nearest decides.
///
/// A class's mean is that of its examples; for the cosine distance, of its examples at length 1.
/// Examples and classes can be added and removed at any time. A class's score is its share of
/// 1 / distance; where distances are 0, only these count.
public struct NearestMean: FeatureClassifier {
  public static let kind = "nearestMean"

  public let distance: FeatureDistance
  /// In ascending order after `fit`, later ones behind them.
  public private(set) var classes: [ClassLabel] = []
  public private(set) var dimension: Int?
  private var sums: [[Double]] = []
  private var counts: [Int] = []
  private var means: PointSet?

  public init(distance: FeatureDistance = .euclidean) { self.distance = distance }

  /// How many examples each class has, in the order of `classes`.
  public var exampleCounts: [Int] { counts }

  public mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws {
    let classes = ClassAssignment(labels).classes
    var fresh = NearestMean(distance: distance)
    fresh.dimension = try FeatureRows(features, count: labels.count).dimension
    for label in classes { fresh.addClass(label) }
    try fresh.change(features, labels, by: 1)
    self = fresh
  }

  /// Adds examples; labels not seen before become new classes.
  ///
  /// - Throws: `shapeMismatch` with both shapes when the features do not flatten to the dimension,
  ///   `badData`, `typeMismatch`.
  public mutating func add(_ features: Tensor, labels: [ClassLabel]) throws {
    var changed = self
    let rows = try FeatureRows(features, dimension: dimension, count: labels.count)
    changed.dimension = rows.dimension
    for label in labels where !changed.classes.contains(label) { changed.addClass(label) }
    try changed.change(features, labels, by: 1)
    self = changed
  }

  /// Takes examples away that were added before; a class without examples goes.
  ///
  /// - Throws: `invalidArgument` when a class has fewer examples than that, `shapeMismatch`.
  public mutating func remove(_ features: Tensor, labels: [ClassLabel]) throws {
    var changed = self
    for label in Set(labels).sorted() {
      let wanted = labels.count { $0 == label }
      let count = classes.firstIndex(of: label).map { counts[$0] } ?? 0
      guard count >= wanted else {
        throw GraftError(
          .invalidArgument,
          "the class '\(label)' has \(count) examples, and \(wanted) are to be removed",
          fix: "Remove examples that were added before")
      }
    }
    try changed.change(features, labels, by: -1)
    for label in changed.classes where changed.count(of: label) == 0 { changed.drop(label) }
    try changed.updateMeans()
    self = changed
  }

  /// Removes a class with all its examples.
  ///
  /// - Throws: `invalidArgument` when there is no such class.
  public mutating func remove(class label: ClassLabel) throws {
    guard classes.contains(label) else {
      let names = classes.map(\.description)
      throw GraftError(
        .invalidArgument, "there is no class '\(label)'",
        fix: didYouMean(label.description, among: names)
          ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    drop(label)
    try updateMeans()
  }

  private func count(of label: ClassLabel) -> Int {
    classes.firstIndex(of: label).map { counts[$0] } ?? 0
  }

  private mutating func addClass(_ label: ClassLabel) {
    classes.append(label)
    counts.append(0)
    sums.append([Double](repeating: 0, count: dimension ?? 0))
  }

  private mutating func drop(_ label: ClassLabel) {
    guard let place = classes.firstIndex(of: label) else { return }
    classes.remove(at: place)
    counts.remove(at: place)
    sums.remove(at: place)
  }

  private mutating func change(_ features: Tensor, _ labels: [ClassLabel], by sign: Int) throws {
    let rows = try FeatureRows(features, dimension: dimension, count: labels.count).matrix
    for (row, label) in labels.enumerated() {
      guard let place = classes.firstIndex(of: label) else { continue }
      let example = Array(rows.row(row))
      let length = distance == .cosine ? example.dot(example).squareRoot() : 1
      counts[place] += sign
      if length > 0 { sums[place].add(example, times: Double(sign) / length) }
    }
    try updateMeans()
  }

  private mutating func updateMeans() throws {
    guard let dimension, !classes.isEmpty else {
      means = nil
      return
    }
    var points = PointSet(dimension: dimension)
    for (sum, count) in zip(sums, counts) {
      let mean = sum.map { Float($0 / Double(max(1, count))) }
      try points.append(FeatureRows(try Tensor(mean, shape: [1, dimension])))
    }
    means = points
  }

  // MARK: Scores

  public func scores(_ features: Tensor) throws -> [[Double]] {
    guard let means else { throw Self.unfitted }
    let rows = try FeatureRows(features, dimension: means.dimension)
    let source = try rows.tensor.pointer(as: Float.self)
    return withExtendedLifetime(rows) {
      (0..<rows.count).map { row in
        let ranks = means.ranks(of: source + row * means.dimension, distance)
        let weights = inverseWeights(ranks.map { distance.distance(rank: $0) })
        let total = weights.reduce(0, +)
        return weights.map { $0 / total }
      }
    }
  }

  public func model() throws -> Model {
    guard let means else { throw Self.unfitted }
    return try Model(classifying: means.dimension, classes: classes.count) { builder, features in
      let ranks = try builder.addRanks(of: features, to: means, distance)
      return builder.addFloat(try builder.addShares(ofRanks: ranks, distance), named: "scores")
    }
  }
}

extension NearestMean {
  private struct Settings: Codable { var distance: FeatureDistance }

  public var contents: ClassifierContents {
    get throws {
      guard let dimension, !classes.isEmpty else { throw Self.unfitted }
      return try ClassifierContents(
        kind: Self.kind, classes: classes, settings: Settings(distance: distance),
        tensors: [
          ("sums", try Tensor(sums.flatMap { $0 }, shape: [classes.count, dimension])),
          ("counts", try Tensor(counts.map(Int64.init))),
        ])
    }
  }

  public init(_ contents: ClassifierContents) throws {
    let settings = try contents.settings(as: Settings.self)
    self.init(distance: settings.distance)
    let sums = try contents.tensor("sums", .float64, shape: [contents.classes.count, nil])
    let counts = try contents.tensor("counts", .int64, shape: [contents.classes.count])
      .values(as: Int64.self)
    let size = sums.shape[1]
    guard !contents.classes.isEmpty, size > 0, counts.allSatisfy({ 1...(1 << 53) ~= $0 }) else {
      throw GraftError(.damaged, "sums of shape \(sums.shape) of \(counts) examples make no means")
    }
    classes = contents.classes
    dimension = size
    self.counts = counts.map(Int.init)
    let values = try sums.values(as: Double.self)
    self.sums = classes.indices.map { Array(values[$0 * size..<($0 + 1) * size]) }
    try locating("the means") {
      do { try updateMeans() } catch let error as GraftError {
        throw GraftError(.damaged, error.what)
      }
    }
  }
}
