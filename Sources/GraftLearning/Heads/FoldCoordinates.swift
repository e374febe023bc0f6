/// The examples of a fold in the coordinates in which linear heads learn fastest: scalar products where
/// there are fewer examples than features, else standardised features.
struct FoldCoordinates {
  private let classes: [Int]
  private let classCount: Int
  /// [training examples, coordinates].
  private let training: DenseMatrix
  /// [examples held out, coordinates].
  private let heldOut: DenseMatrix
  private let penalties: [Double]

  init(_ fold: FoldEvaluation, _ scaling: FeatureScaling) {
    classes = fold.training.map { fold.classes[$0] }
    classCount = fold.classCount
    let rows = fold.rows.selecting(rows: fold.training)
    let isShort = fold.training.count <= fold.rows.columns
    if isShort, scaling == .none {
      (training, heldOut) = Self.coordinates(
        of: Self.centred(fold.gram, on: fold.training), fold.training, fold.heldOut)
      penalties = []
      return
    }
    let means = rows.columnMeans
    let deviations = rows.columnDeviations(around: means)
    if isShort {
      let scaled = fold.rows.standardized(means: means, deviations: deviations)
      (training, heldOut) = Self.coordinates(of: scaled.gram, fold.training, fold.heldOut)
      penalties = []
    } else {
      training = rows.standardized(means: means, deviations: deviations)
      heldOut = fold.rows.selecting(rows: fold.heldOut)
        .standardized(means: means, deviations: deviations)
      penalties = scaling == .none ? deviations.map { 1 / ($0 * $0) } : []
    }
  }

  /// The scalar products after the mean of some rows is taken away from all.
  private static func centred(_ gram: DenseMatrix, on training: [Int]) -> DenseMatrix {
    let count = Double(training.count)
    let means = (0..<gram.rows).map { row in
      training.reduce(0) { $0 + gram[row, $1] } / count
    }
    let mean = training.reduce(0) { $0 + means[$1] } / count
    var result = gram
    for row in 0..<gram.rows {
      for column in 0..<gram.columns { result[row, column] += mean - means[row] - means[column] }
    }
    return result
  }

  private static func coordinates(of gram: DenseMatrix, _ training: [Int], _ heldOut: [Int]) -> (
    DenseMatrix, DenseMatrix
  ) {
    func part(_ rows: [Int]) -> DenseMatrix {
      DenseMatrix(
        rows: rows.count, columns: training.count,
        values: rows.flatMap { row in training.map { gram[row, $0] } })
    }
    let space = RowSpace(gram: part(training))
    return (space.coordinates, space.coordinates(ofProducts: part(heldOut)))
  }

  /// - Parameter strengths: with ascending C; each search starts where the one before ended.
  func logistic(_ strengths: [(index: Int, c: Double)]) -> [(Int, [Int])] {
    var minimizer = LBFGS()
    minimizer.gradientTolerance = 1e-5
    minimizer.maximumIterations = 200
    let problem = SoftmaxRegression(
      coordinates: training, classes: classes, classCount: classCount, penalties: penalties)
    var start: [Double]?
    return strengths.map { index, c in
      let point = problem.fit(c: c, start: start, with: minimizer).point
      start = point
      let weights = DenseMatrix(
        rows: classCount, columns: training.columns,
        values: Array(point[..<(classCount * training.columns)]))
      let biases = Array(point[(classCount * training.columns)...])
      return (index, predictions(heldOut.timesTransposed(weights), biases))
    }
  }

  func leastSquares(l2: Double) -> [Int] {
    let shares = LeastSquares.shares(classes, classCount: classCount)
    let indicators = LeastSquares.indicators(classes, shares: shares)
    let weights = LeastSquares(l2: l2).featureWeights(
      centred: training, indicators: indicators, penalties: penalties)
    return predictions(heldOut.times(weights), shares)
  }

  private func predictions(_ outputs: DenseMatrix, _ biases: [Double]) -> [Int] {
    (0..<outputs.rows).map { row in
      zip(outputs.row(row), biases).map { $0 + $1 }.largestIndex ?? 0
    }
  }
}
