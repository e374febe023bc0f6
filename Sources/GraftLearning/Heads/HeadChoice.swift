import GraftDiagnostics
import GraftTensor

/// A head and a feature matrix chosen by repeated stratified cross validation.
///
/// Every candidate is trained on all but one fold and asked about that fold, in turn, several times with
/// different folds. Of more than a hundred candidates all are tried once, and the best tenth, fifty at
/// least, as often as the others would be. The most accurate one wins; of equally accurate ones the simpler
/// head, then the matrix with fewer features, then the one given first. Only the examples given are used.
/// The same seed gives the same choice.
public struct HeadChoice: Sendable {
  /// Features that heads may learn from.
  public struct Features: Sendable {
    /// The name in tables and explanations.
    public var name: String
    /// [examples, ...].
    public var tensor: Tensor

    public init(_ name: String, _ tensor: Tensor) {
      self.name = name
      self.tensor = tensor
    }
  }

  /// How the choice is made.
  public struct Options: Sendable {
    public var candidates = HeadSettings.standard
    /// At least 2; there are never more folds than examples.
    public var folds = 5
    /// How often the examples are dealt out anew; when nil 5 times up to 100 examples, twice up to
    /// 400, else once.
    public var repeats: Int?
    public var seed: UInt64 = 0
    /// All cores when nil; the choice does not depend on it.
    public var threads: Int?

    public init() {}
  }

  /// How one head did on one matrix.
  public struct Candidate: Sendable {
    /// The matrix's name.
    public let features: String
    public let settings: HeadSettings
    /// The mean over all examples of how often they were classified right.
    public let accuracy: Double
    /// Of the accuracy, from how the examples differ; copies count as one example.
    public let standardError: Double
    /// How often it was cross-validated: once when others looked better then.
    public let repeats: Int
    let featureIndex: Int
    let dimension: Int
  }

  /// All candidates, the chosen one first.
  public let candidates: [Candidate]
  public let chosen: Candidate
  /// The chosen head, fitted on all examples of its matrix.
  public let classifier: any FeatureClassifier
  public let folds: Int
  public let repeats: Int
  /// Without copies.
  public let exampleCount: Int

  /// - Parameters:
  ///   - matrices: one or more, each with a row for each label.
  ///   - groups: for each row a number; rows with the same number are copies of one example, such as
  ///     mirrored pictures, and stay together. Every row by itself when nil.
  ///   - progress: is told the share that is done.
  /// - Throws: `badData` when labels and rows differ in number or a class has fewer than two examples,
  ///   `invalidArgument` when an option is out of range or there is nothing to choose from, `cancelled`.
  public init(
    among matrices: [Features], labels: [ClassLabel], groups: [Int]? = nil,
    options: Options = Options(), progress: (Double) -> Void = { _ in }
  ) throws {
    let assignment = ClassAssignment(labels)
    try assignment.requireTwoClasses()
    let validation = try CrossValidation(
      assignment, groups: groups ?? Array(labels.indices), options: options)
    guard !matrices.isEmpty, !options.candidates.isEmpty else {
      throw GraftError(
        .invalidArgument, "there is nothing to choose from",
        fix: "Give at least one feature matrix and one candidate")
    }
    let rows = try matrices.map { matrix in
      try locating(matrix.name) { try FeatureRows(matrix.tensor, count: labels.count) }
    }
    let candidates = try Screening(matrices, rows, labels, validation, options.candidates)
      .ranked(progress)
    chosen = candidates[0]
    self.candidates = candidates
    var classifier = try chosen.settings.classifier(seed: options.seed)
    try classifier.fit(matrices[chosen.featureIndex].tensor, labels: labels)
    self.classifier = classifier
    folds = validation.foldCount
    repeats = validation.repeats
    exampleCount = validation.exampleCount
  }
}

extension HeadChoice.Candidate {
  func isBetter(than other: Self) -> Bool {
    if repeats != other.repeats { return repeats > other.repeats }
    // Sums of the same counts may differ in their last bits.
    if (accuracy - other.accuracy).magnitude > 1e-9 { return accuracy > other.accuracy }
    let (own, others) = (settings.complexity, other.settings.complexity)
    return (own.kind, own.freedom, dimension, featureIndex)
      < (others.kind, others.freedom, other.dimension, other.featureIndex)
  }
}
