import GraftDiagnostics
import GraftTensor

extension ExampleSet {
  /// The class of every example, when the targets are one whole number for each.
  package var classes: [Int]? {
    targets.shape.elementCount == count ? targets.integers : nil
  }

  /// A weight for each class that makes rare classes count as much as frequent ones: examples /
  /// (classes * examples of the class), as scikit-learn's `balanced`. Classes without examples get 0.
  ///
  /// - Throws: `badData` when the targets are no class numbers.
  public func classWeights() throws -> [Float] { try Self.classWeights(of: [self]) }

  /// Class weights over several sets together; see `classWeights()`.
  ///
  /// - Throws: `badData` when the targets are no class numbers.
  public static func classWeights(of data: [ExampleSet]) throws -> [Float] {
    let classes = try data.flatMap { try $0.requiredClasses() }
    let classCount = max(data.compactMap { $0.labels?.count }.max() ?? 0, (classes.max() ?? 0) + 1)
    var counts = [Int](repeating: 0, count: classCount)
    for number in classes { counts[number] += 1 }
    let present = counts.count { $0 > 0 }
    return counts.map { $0 == 0 ? 0 : Float(classes.count) / Float(present * $0) }
  }

  /// The class of every example.
  ///
  /// - Throws: `badData` when the targets are no class numbers.
  package func requiredClasses() throws -> [Int] {
    guard let classes, classes.allSatisfy({ (0...Self.largestClass).contains($0) }) else {
      throw GraftError(
        .badData, "the targets of shape \(targets.shape) are no class numbers", at: [name],
        fix: "Give one whole number, 0 or more, for each example")
    }
    return classes
  }

  /// No model tells more classes apart; a larger number is a mistake.
  private static let largestClass = 1 << 20
}

extension BatchOrder {
  /// The batches of sets.
  ///
  /// - Parameter balanced: whether every class is drawn as often as the most frequent one.
  /// - Throws: `badData` when classes are to be balanced and the targets are no class numbers, or
  ///   when no batch is left because every set is smaller than a batch and `drop` is chosen.
  package init(
    _ data: [ExampleSet], batchSize: Int, shuffleSeed: UInt64?, lastBatch: LastBatch = .keep,
    balanced: Bool = false
  ) throws {
    self.init(
      exampleCounts: data.map(\.count), batchSize: batchSize, shuffleSeed: shuffleSeed,
      lastBatch: lastBatch,
      balancedClasses: balanced ? try data.map { try $0.requiredClasses() } : nil)
    guard lastBatch != .drop || !batches(epoch: 0).isEmpty else {
      throw GraftError(
        .badData,
        "no batch is left: \(data.map(\.count).max() ?? 0) examples do not fill one of \(batchSize)",
        at: data.count == 1 ? [data[0].name] : [],
        fix: "Choose a smaller batch size, or keep the last batch")
    }
  }
}
