import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NearestNeighbors {
  public func scores(_ features: Tensor) throws -> [[Double]] {
    guard let points, !labels.isEmpty else { return try defaultScores(features) }
    let rows = try FeatureRows(features, dimension: points.dimension)
    let source = try rows.tensor.pointer(as: Float.self)
    let members = memberships
    return withExtendedLifetime(rows) {
      (0..<rows.count).map { row in
        let ranks = points.ranks(of: source + row * points.dimension, distance)
        return scores(ranks: ranks, classes: members)
      }
    }
  }

  /// The scores of one example from its ranks.
  private func scores(ranks: [Double], classes members: [Int]) -> [Double] {
    let nearest = nearestIndices(ranks, k: k)
    let weights =
      weighting == .uniform
      ? [Double](repeating: 1, count: nearest.count)
      : inverseWeights(nearest.map { distance.distance(rank: ranks[$0]) })
    let total = weights.reduce(0, +)
    var scores = [Double](repeating: 0, count: order.count)
    for (index, weight) in zip(nearest, weights) { scores[members[index]] += weight / total }
    return scores
  }

  /// For each example its class's place in `order`.
  private var memberships: [Int] {
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    return labels.compactMap { places[$0] }
  }

  private func defaultScores(_ features: Tensor) throws -> [[Double]] {
    guard defaultLabel != nil else { throw Self.unfitted }
    return try (0..<FeatureRows(features, dimension: dimension).count).map { _ in [1] }
  }

  public func model() throws -> Model {
    guard let points, !labels.isEmpty else { throw Self.unfitted }
    var indicators = DenseMatrix(zeros: labels.count, order.count)
    for (row, column) in memberships.enumerated() { indicators[row, column] = 1 }
    let neighborCount = min(k, labels.count)
    return try Model(classifying: points.dimension, classes: order.count) { builder, features in
      let ranks = try builder.addRanks(of: features, to: points, distance)
      let best = builder.add(
        "TopK", [ranks, try builder.ints([neighborCount])],
        ["largest": .int(0), "sorted": .int(1), "axis": .int(1)], outputs: ["nearest", "places"])
      let classes = builder.initializer(
        try Tensor(indicators.values, shape: [labels.count, order.count]), named: "indicators")
      let votes = builder.add("Gather", [classes, best[1]], ["axis": .int(0)])
      guard weighting == .inverseDistance else {
        let mean = builder.add(
          "ReduceMean", [votes, try builder.ints([1])], ["keepdims": .int(0)])
        return builder.addFloat(mean, named: "scores")
      }
      let shares = try builder.addShares(ofRanks: best[0], distance)
      let weighted = builder.add(
        "Mul", [builder.add("Unsqueeze", [shares, try builder.ints([2])]), votes])
      let sum = builder.add(
        "ReduceSum", [weighted, try builder.ints([1])], ["keepdims": .int(0)])
      return builder.addFloat(sum, named: "scores")
    }
  }
}

/// The places of the k smallest ranks, nearest first; of equal ones the earlier first.
func nearestIndices(_ ranks: [Double], k: Int) -> [Int] {
  var chosen: [Int] = []
  for index in ranks.indices {
    if chosen.count == k, let last = chosen.last, ranks[last] <= ranks[index] { continue }
    var (low, high) = (0, chosen.count)
    while low < high {
      let middle = (low + high) / 2
      if ranks[chosen[middle]] <= ranks[index] { low = middle + 1 } else { high = middle }
    }
    chosen.insert(index, at: low)
    if chosen.count > k { chosen.removeLast() }
  }
  return chosen
}

extension NearestNeighbors {
  private struct Settings: Codable {
    var k: Int
    var smallestK: Int
    var largestK: Int
    var weighting: Weighting
    var distance: FeatureDistance
    var defaultLabel: ClassLabel?
  }

  public var contents: ClassifierContents {
    get throws {
      guard let points else { throw Self.unfitted }
      return try ClassifierContents(
        kind: Self.kind, classes: order,
        settings: Settings(
          k: k, smallestK: kRange.lowerBound, largestK: kRange.upperBound, weighting: weighting,
          distance: distance, defaultLabel: defaultLabel),
        tensors: [
          ("examples", try points.tensor),
          ("labels", try Tensor(memberships.map(Int64.init))),
        ])
    }
  }

  public init(_ contents: ClassifierContents) throws {
    let settings = try contents.settings(as: Settings.self)
    let examples = try contents.tensor("examples", shape: [nil, nil])
    let labels = try contents.tensor("labels", .int64, shape: [examples.shape[0]])
    guard settings.smallestK >= 1, settings.smallestK <= settings.largestK,
      examples.shape[1] >= 1
    else {
      throw GraftError(
        .damaged,
        "k from \(settings.smallestK) to \(settings.largestK) and examples of shape "
          + "\(examples.shape) make no classifier")
    }
    try self.init(
      k: settings.k, kRange: settings.smallestK...settings.largestK, weighting: settings.weighting,
      distance: settings.distance, defaultLabel: settings.defaultLabel,
      dimension: examples.shape[1])
    let places = try labels.values(as: Int64.self)
    guard places.allSatisfy({ 0..<Int64(contents.classes.count) ~= $0 }),
      Set(places).count == contents.classes.count
    else {
      throw GraftError(
        .damaged, "the examples' classes are not those of \(contents.classes.count) classes")
    }
    guard !places.isEmpty else { return }
    try add(examples, labels: places.map { contents.classes[Int($0)] })
    order = contents.classes
  }
}
