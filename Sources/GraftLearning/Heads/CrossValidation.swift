import GraftDiagnostics
import GraftTensor

/// Repeated stratified cross validation of several heads on feature matrices.
struct CrossValidation {
  private let assignment: ClassAssignment
  private let groups: [Int]
  private let options: HeadChoice.Options
  private let threads: Int
  /// For every repetition the rows of each fold.
  private let heldOut: [[[Int]]]
  let repeats: Int
  let foldCount: Int
  /// How many groups there are.
  let exampleCount: Int

  init(_ assignment: ClassAssignment, groups: [Int], options: HeadChoice.Options) throws {
    let count = assignment.indices.count
    guard groups.count == count else {
      throw GraftError(
        .badData, "there are \(groups.count) groups and \(count) labels",
        fix: "Give one group for each label")
    }
    guard options.folds >= 2 else {
      throw GraftError(
        .invalidArgument, "\(options.folds) folds cannot validate each other",
        fix: "Choose 2 or more")
    }
    guard options.repeats ?? 1 >= 1 else {
      throw GraftError(
        .invalidArgument, "the number of repeats is \(options.repeats ?? 0)",
        fix: "Choose 1 or more")
    }
    self.assignment = assignment
    self.groups = groups
    self.options = options
    threads = max(1, options.threads ?? availableThreads)
    exampleCount = Set(groups).count
    foldCount = min(options.folds, exampleCount)
    repeats = options.repeats ?? (exampleCount <= 100 ? 5 : exampleCount <= 400 ? 2 : 1)
    let foldCount = foldCount
    heldOut = try (0..<repeats).map { round in
      try StratifiedFolds(
        classes: assignment.indices, labels: assignment.classes, groups: groups, count: foldCount,
        seed: options.seed &+ UInt64(round) &* 0x9E37_79B9_7F4A_7C15
      ).heldOut
    }
  }

  /// For each candidate how often each row was classified right.
  ///
  /// - Parameter rounds: the repetitions that are made.
  func evaluate(
    _ candidates: [HeadSettings], _ rows: FeatureRows, labels: [ClassLabel], rounds: Range<Int>
  ) throws -> [[Double]] {
    let heldOut = heldOut[rounds].flatMap(\.self)
    let matrix = try rows.matrix
    let gram = matrix.gram
    var predictions = [[[Int]?]](repeating: [], count: heldOut.count)
    predictions.withUnsafeMutableBufferPointer { slots in
      parallelLoop(heldOut.count, threads: threads) { range in
        for index in range {
          let fold = FoldEvaluation(
            rows: matrix, gram: gram, classes: assignment.indices,
            classCount: assignment.classes.count, training: others(than: heldOut[index]),
            heldOut: heldOut[index])
          slots[index] = fold.predictions(candidates)
        }
      }
    }
    return try candidates.enumerated().map { place, settings in
      var right = [Double](repeating: 0, count: assignment.indices.count)
      for (index, rowsOut) in heldOut.enumerated() {
        let found =
          try predictions[index][place] ?? slowPredictions(settings, rows, labels, rowsOut)
        for (row, label) in zip(rowsOut, found) where label == assignment.indices[row] {
          right[row] += 1
        }
      }
      return right
    }
  }

  /// The accuracy of a candidate after some repetitions.
  func result(_ right: [Double], rounds: Int) -> Result {
    Result(right.map { $0 / Double(rounds) }, groups: groups)
  }

  private func others(than rows: [Int]) -> [Int] {
    let out = Set(rows)
    return assignment.indices.indices.filter { !out.contains($0) }
  }

  /// Fits a classifier itself.
  private func slowPredictions(
    _ settings: HeadSettings, _ rows: FeatureRows, _ labels: [ClassLabel], _ heldOut: [Int]
  ) throws -> [Int] {
    let training = others(than: heldOut)
    var classifier = try settings.classifier(seed: options.seed)
    try classifier.fit(
      rows.tensor.gathering(rows: training), labels: training.map { labels[$0] })
    let places = Dictionary(
      uniqueKeysWithValues: assignment.classes.enumerated().map { ($1, $0) })
    return try classifier.predict(rows.tensor.gathering(rows: heldOut)).map { places[$0] ?? -1 }
  }

  /// A mean over examples.
  struct Result {
    let mean: Double
    let standardError: Double

    /// - Parameter right: for each row the share of rounds in which it was classified right.
    init(_ right: [Double], groups: [Int]) {
      var sums: [Int: (sum: Double, count: Double)] = [:]
      var order: [Int] = []
      for (value, group) in zip(right, groups) {
        if sums[group] == nil { order.append(group) }
        let old = sums[group] ?? (0, 0)
        sums[group] = (old.sum + value, old.count + 1)
      }
      let shares = order.map { group in (sums[group] ?? (0, 1)).sum / (sums[group] ?? (0, 1)).count
      }
      let count = Double(max(1, shares.count))
      let mean = shares.reduce(0, +) / count
      let square = shares.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      self.mean = mean
      standardError = count > 1 ? (square / (count * (count - 1))).squareRoot() : 0
    }
  }
}
