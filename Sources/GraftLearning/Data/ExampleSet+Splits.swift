import GraftDiagnostics
import GraftTensor

extension ExampleSet {
  /// Some examples, in the given order.
  ///
  /// - Throws: `invalidArgument` when a row is not there or none is given.
  public func subset(rows: [Int]) throws -> ExampleSet {
    guard let wrong = rows.first(where: { $0 < 0 || $0 >= count }) else {
      guard !rows.isEmpty else {
        throw GraftError(
          .invalidArgument, "a set cannot be without examples", at: [name],
          fix: "Choose at least one row")
      }
      return try ExampleSet(
        name: name, targets: try targets.gathering(rows: rows), labels: labels,
        inputTypes: inputTypes, variants: variants, source: source, origins: rows.map(origin))
    }
    throw GraftError(
      .invalidArgument, "there is no row \(wrong) among \(count) examples", at: [name])
  }

  /// The same examples, never changed.
  public func unchanged() throws -> ExampleSet {
    try ExampleSet(
      name: name, targets: targets, labels: labels, inputTypes: inputTypes, variants: nil,
      source: source, origins: origins)
  }

  /// Divides the examples at random into some to train on and some to validate with.
  ///
  /// When the targets are class numbers, every class is divided on its own, and a class with two
  /// examples or more has some in both parts. Validation examples are never changed.
  ///
  /// - Parameters:
  ///   - validation: the part to validate with, above 0 and below 1.
  ///   - seed: the same seed divides in the same way.
  /// - Throws: `invalidArgument` for another part; `badData` when no example is left in one of both.
  public func split(validation: Double, seed: UInt64 = 0) throws -> (
    training: ExampleSet, validation: ExampleSet
  ) {
    guard validation > 0, validation < 1 else {
      throw GraftError(
        .invalidArgument, "the part for validation is \(validation)",
        fix: "Choose a number above 0 and below 1")
    }
    var chosen: [Int] = []
    for rows in shuffledGroups(seed: seed) {
      let wanted = Int((Double(rows.count) * validation).rounded())
      chosen += rows.prefix(rows.count < 2 ? 0 : min(max(wanted, 1), rows.count - 1))
    }
    return try parts(validation: Set(chosen))
  }

  /// Divides the examples at random into parts of nearly equal size, each of which validates once what
  /// is trained on the others.
  ///
  /// When the targets are class numbers, the examples of every class are spread evenly.
  ///
  /// - Parameters:
  ///   - count: the number of parts, 2 or more.
  ///   - seed: the same seed divides in the same way.
  /// - Throws: `invalidArgument` when there are fewer than 2 parts, or more than examples.
  public func folds(_ count: Int, seed: UInt64 = 0) throws -> [(
    training: ExampleSet, validation: ExampleSet
  )] {
    guard count >= 2, count <= self.count else {
      throw GraftError(
        .invalidArgument, "\(self.count) examples cannot be divided into \(count) parts",
        at: [name], fix: "Choose 2 to \(max(2, self.count))")
    }
    // Going on from class to class keeps the parts' sizes equal.
    let order = shuffledGroups(seed: seed).flatMap(\.self)
    return try (0..<count).map { fold in
      try parts(
        validation: Set(stride(from: fold, to: order.count, by: count).map { order[$0] }))
    }
  }

  /// The rows of each class in random order; all rows together without classes.
  private func shuffledGroups(seed: UInt64) -> [[Int]] {
    var generator = SeededGenerator(seed: seed)
    let classes = classes ?? [Int](repeating: 0, count: count)
    return Dictionary(grouping: 0..<count) { classes[$0] }.sorted { $0.key < $1.key }
      .map { $0.value.shuffled(using: &generator) }
  }

  private func parts(validation: Set<Int>) throws -> (training: ExampleSet, validation: ExampleSet)
  {
    guard !validation.isEmpty, validation.count < count else {
      throw GraftError(
        .badData, "\(count) examples are too few to divide them", at: [name],
        fix: "Give at least two examples of a class")
    }
    return (
      try subset(rows: (0..<count).filter { !validation.contains($0) }),
      try subset(rows: validation.sorted()).unchanged()
    )
  }
}
