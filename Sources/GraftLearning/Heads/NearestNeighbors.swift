import GraftDiagnostics
import GraftTensor

/// The k nearest of the examples decide, by a linear scan over all of them.
///
/// Examples and classes can be added and removed at any time; what is asked next knows it. A class's
/// score is its share of the neighbours' weights. Of equally distant examples the one added first is
/// the nearer; with equal scores `predict` chooses the first of `classes`. With fewer than k examples
/// all are neighbours. Vectors closer than a millionth of their length count as equal.
///
/// Complexity: one question takes examples * dimension steps.
public struct NearestNeighbors: FeatureClassifier {
  public static let kind = "nearestNeighbors"

  /// What a neighbour weighs.
  public enum Weighting: String, Sendable, Codable, CaseIterable {
    /// All weigh the same.
    case uniform
    /// 1 / distance; where some are at distance 0, only these count.
    case inverseDistance
  }

  /// How many neighbours decide.
  public private(set) var k: Int
  /// The values that k may have.
  public let kRange: ClosedRange<Int>
  public var weighting: Weighting
  public let distance: FeatureDistance
  /// The class of everything while there are no examples; without one asking is an error then.
  public var defaultLabel: ClassLabel?
  /// Those that have examples: in ascending order after `fit`, later ones behind them. Without examples
  /// the default label alone.
  public var classes: [ClassLabel] {
    labels.isEmpty ? defaultLabel.map { [$0] } ?? [] : order
  }
  /// The labels of the examples, in the order in which they were added.
  public private(set) var labels: [ClassLabel] = []

  var order: [ClassLabel] = []
  private(set) var points: PointSet?

  /// - Parameters:
  ///   - kRange: from 1 or more.
  ///   - dimension: how many features an example has; what the first examples have when nil.
  /// - Throws: `invalidArgument` when k is outside its range or the range begins below 1.
  public init(
    k: Int = 5, kRange: ClosedRange<Int> = 1...1000, weighting: Weighting = .uniform,
    distance: FeatureDistance = .euclidean, defaultLabel: ClassLabel? = nil, dimension: Int? = nil
  ) throws {
    guard kRange.lowerBound >= 1 else {
      throw GraftError(
        .invalidArgument, "k may have the values \(kRange.lowerBound) to \(kRange.upperBound)",
        fix: "Choose a range from 1 or more")
    }
    if let dimension, dimension < 1 {
      throw GraftError(
        .invalidArgument, "the dimension is \(dimension)", fix: "Choose 1 or more features")
    }
    self.k = k
    self.kRange = kRange
    self.weighting = weighting
    self.distance = distance
    self.defaultLabel = defaultLabel
    points = dimension.map { PointSet(dimension: $0) }
    try setK(k)
  }

  public var dimension: Int? { points?.dimension }

  /// How many examples there are.
  public var count: Int { labels.count }

  /// - Throws: `invalidArgument` when `k` is outside `kRange`.
  public mutating func setK(_ k: Int) throws {
    guard kRange.contains(k) else {
      throw GraftError(
        .invalidArgument, "k is \(k)",
        fix: "Choose a number from \(kRange.lowerBound) to \(kRange.upperBound)")
    }
    self.k = k
  }

  // MARK: Examples

  public mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws {
    var fresh = self
    fresh.points = nil
    fresh.labels = []
    fresh.order = []
    try fresh.add(features, labels: labels)
    fresh.order.sort()
    self = fresh
  }

  /// Adds examples; labels not seen before become new classes.
  ///
  /// - Throws: `shapeMismatch` with both shapes when the features do not flatten to the dimension,
  ///   `badData`, `typeMismatch`.
  public mutating func add(_ features: Tensor, labels: [ClassLabel]) throws {
    let rows = try FeatureRows(features, dimension: dimension, count: labels.count)
    var points = self.points ?? PointSet(dimension: rows.dimension)
    try points.append(rows)
    self.points = points
    self.labels += labels
    for label in labels where !order.contains(label) { order.append(label) }
  }

  /// Adds one example of any shape that flattens to the dimension.
  public mutating func add(_ example: Tensor, label: ClassLabel) throws {
    let size = dimension ?? example.elementCount
    guard example.elementCount == size else {
      // Says what does not fit.
      _ = try FeatureRows(example, dimension: size, count: 1)
      return
    }
    try add(try example.reshaped(to: [1, size]), labels: [label])
  }

  /// Removes examples by their places in `labels`; the later ones move up.
  ///
  /// - Throws: `invalidArgument` when there is no such example; nothing is removed then.
  public mutating func remove(at places: Set<Int>) throws {
    if let wrong = places.sorted().first(where: { !labels.indices.contains($0) }) {
      throw GraftError(
        .invalidArgument, "there is no example \(wrong) among \(count), counted from 0",
        fix: "Choose examples that are there")
    }
    points?.keep { !places.contains($0) }
    labels = labels.indices.filter { !places.contains($0) }.map { labels[$0] }
    let present = Set(labels)
    order.removeAll { !present.contains($0) }
  }

  /// Removes all examples of a class.
  ///
  /// - Throws: `invalidArgument` when the class has no examples.
  public mutating func remove(class label: ClassLabel) throws {
    guard order.contains(label) else {
      let names = order.map(\.description)
      throw GraftError(
        .invalidArgument, "there is no class '\(label)'",
        fix: didYouMean(label.description, among: names)
          ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    try remove(at: Set(labels.indices.filter { labels[$0] == label }))
  }
}
