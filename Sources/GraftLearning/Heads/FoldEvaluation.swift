import GraftTensor

/// How heads trained on some examples of a matrix classify the others. All heads share the scalar
/// products of the examples, so that many of them take little more time than one.
struct FoldEvaluation {
  let rows: DenseMatrix
  /// The scalar products of all rows.
  let gram: DenseMatrix
  let classes: [Int]
  let classCount: Int
  let training: [Int]
  let heldOut: [Int]

  /// For each of the settings the classes found for the rows held out; nil for perceptrons, which
  /// have no short way.
  func predictions(_ settings: [HeadSettings]) -> [[Int]?] {
    var found = [[Int]?](repeating: nil, count: settings.count)
    for scaling in FeatureScaling.allCases {
      for (index, prediction) in linearPredictions(settings, scaling) { found[index] = prediction }
    }
    let neighbors = NeighborTables(self)
    for (index, setting) in settings.enumerated() {
      switch setting {
      case .nearestMean(let distance): found[index] = meanPredictions(distance)
      case .neighbors(let k, let weighting, let distance):
        found[index] = neighbors.predictions(k: k, weighting, distance)
      case .linear, .logistic, .perceptron: break
      }
    }
    return found
  }

  private func linearPredictions(_ settings: [HeadSettings], _ scaling: FeatureScaling) -> [(
    Int, [Int]
  )] {
    var strengths: [(index: Int, c: Double)] = []
    var penalties: [(index: Int, l2: Double)] = []
    for (index, setting) in settings.enumerated() {
      switch setting {
      case .logistic(let c, scaling): strengths.append((index, c))
      case .linear(let l2, scaling): penalties.append((index, l2))
      default: break
      }
    }
    guard !strengths.isEmpty || !penalties.isEmpty else { return [] }
    let problem = FoldCoordinates(self, scaling)
    return problem.logistic(strengths.sorted { $0.c < $1.c })
      + penalties.map { ($0.index, problem.leastSquares(l2: $0.l2)) }
  }

  // MARK: Nearest means

  private func meanPredictions(_ distance: FeatureDistance) -> [Int] {
    func product(_ a: Int, _ b: Int) -> Double {
      guard distance == .cosine else { return gram[a, b] }
      let lengths = (gram[a, a] * gram[b, b]).squareRoot()
      return lengths > 0 ? gram[a, b] / lengths : 0
    }
    var members = [[Int]](repeating: [], count: classCount)
    for row in training { members[classes[row]].append(row) }
    let squares = members.map { rows in
      rows.reduce(0) { sum, a in sum + rows.reduce(0) { $0 + product(a, $1) } }
    }
    return heldOut.map { row in
      let scores = members.indices.map { label -> Double in
        let count = Double(members[label].count)
        guard count > 0 else { return -.infinity }
        let mean = members[label].reduce(0) { $0 + product(row, $1) } / count
        let square = squares[label] / (count * count)
        if distance == .cosine { return square > 0 ? mean / square.squareRoot() : 0 }
        return 2 * mean - square
      }
      return scores.largestIndex ?? 0
    }
  }
}

/// The order of the training examples by distance, for every row held out.
struct NeighborTables {
  private let fold: FoldEvaluation
  private let members: [Int]

  init(_ fold: FoldEvaluation) {
    self.fold = fold
    members = fold.training.map { fold.classes[$0] }
  }

  private func ranks(of row: Int, _ distance: FeatureDistance) -> [Double] {
    let own = fold.gram[row, row]
    return fold.training.map { other in
      let square = fold.gram[other, other]
      let product = fold.gram[row, other]
      if distance == .euclidean {
        let rank = own + square - 2 * product
        return rank <= PointSet.equality * (own + square) ? 0 : rank
      }
      guard own > 0, square > 0 else { return 1 }
      let rank = 1 - product / (own * square).squareRoot()
      return rank <= PointSet.equality ? 0 : rank
    }
  }

  func predictions(
    k: Int, _ weighting: NearestNeighbors.Weighting, _ distance: FeatureDistance
  ) -> [Int] {
    fold.heldOut.map { row in
      let ranks = ranks(of: row, distance)
      let nearest = nearestIndices(ranks, k: k)
      let weights =
        weighting == .uniform
        ? [Double](repeating: 1, count: nearest.count)
        : inverseWeights(nearest.map { distance.distance(rank: ranks[$0]) })
      var scores = [Double](repeating: 0, count: fold.classCount)
      for (place, weight) in zip(nearest, weights) { scores[members[place]] += weight }
      return scores.largestIndex ?? 0
    }
  }
}
