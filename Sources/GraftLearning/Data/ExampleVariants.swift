import GraftDiagnostics
import GraftTensor

/// How many changed versions of an example training uses.
///
/// A variant is made by a generator of its own, seeded by the set's seed, the example's row and the
/// variant's number: the same bytes whenever and on whichever thread it is made. Variant 0 is the
/// example unchanged.
public struct ExampleVariants: Sendable, Equatable {
  /// Variants of each example, the unchanged one included; nil for a new one at every draw.
  public let count: Int?
  public let seed: UInt64

  /// - Parameter count: 8 by default, so that frozen layers can keep what they make of them; nil
  ///   for a new variant at every draw, of which nothing is kept.
  /// - Throws: `invalidArgument` when the count is below 1.
  public init(count: Int? = 8, seed: UInt64 = 0) throws {
    if let count, count < 1 {
      throw GraftError(
        .invalidArgument, "the number of variants is \(count)", fix: "Choose 1 or more")
    }
    self.count = count
    self.seed = seed
  }

  /// What makes a variant; nil for variant 0.
  func generator(row: Int, variant: Int) -> SeededGenerator? {
    variant == 0 ? nil : SeededGenerator(seed: Self.mixed([seed, UInt64(row), UInt64(variant)]))
  }

  /// The variant that a draw of an example uses.
  func variant(row: Int, draw: Int) -> Int {
    let number = Self.mixed([~seed, UInt64(row), UInt64(truncatingIfNeeded: draw)])
    guard let count else { return Int(number >> 1) }
    return Int(number % UInt64(count))
  }

  /// A number that depends on every bit of all given.
  private static func mixed(_ numbers: [UInt64]) -> UInt64 {
    numbers.reduce(0) { sum, number in
      var generator = SeededGenerator(seed: sum ^ number)
      return generator.next()
    }
  }
}

extension ExampleSet {
  /// The variant that a draw of an example uses; nil for sets whose examples do not change.
  ///
  /// - Parameter epoch: the pass over the data, or the batch's number for the draw.
  package func variant(of row: Int, epoch: Int) -> Int? {
    variants?.variant(row: origin(of: row), draw: epoch)
  }

  /// The variants that a batch uses, one for each of its rows.
  package func variants(of batch: Batch) -> [Int?] {
    guard batch.draws.count == batch.rows.count else { return batch.rows.map { _ in nil } }
    return zip(batch.rows, batch.draws).map { variant(of: $0, epoch: $1) }
  }

  /// Whether what frozen layers make of an example is worth keeping: variants come again.
  package var keepsFeatures: Bool { variants.map { $0.count != nil } ?? true }

  /// The same examples, changed while training.
  ///
  /// - Parameter change: makes a variant of an example's inputs, each [1, ...], by the numbers that
  ///   the generator draws; it must keep types and shapes.
  public func augmented(
    _ variants: ExampleVariants,
    _ change:
      @escaping @Sendable (
        _ inputs: [String: Tensor], _ generator: inout SeededGenerator
      ) throws -> [String: Tensor]
  ) throws -> ExampleSet {
    let source = source
    let changed = ExampleSource.loader { row, generator in
      let inputs = try source.load(row, generator: nil)
      guard var random = generator else { return inputs }
      return try change(inputs, &random)
    }
    return try ExampleSet(
      name: name, targets: targets, labels: labels, inputTypes: inputTypes, variants: variants,
      source: changed, origins: origins)
  }
}
