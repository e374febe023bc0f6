import GraftTensor

/// Some examples of one set, by their numbers.
package struct Batch: Sendable, Equatable {
  package let set: Int
  package let rows: [Int]

  package var examples: [ExampleIndex] { rows.map { ExampleIndex(set: set, row: $0) } }
}

/// One example of several sets.
package struct ExampleIndex: Sendable, Hashable {
  package let set: Int
  package let row: Int
}

/// The batches of an epoch. A batch holds examples of one set only; the last batch of a set may be
/// smaller.
package struct BatchOrder: Sendable {
  package let exampleCounts: [Int]
  package let batchSize: Int
  /// Nil for the order in which the examples are given.
  package let shuffleSeed: UInt64?

  package init(exampleCounts: [Int], batchSize: Int, shuffleSeed: UInt64?) {
    self.exampleCounts = exampleCounts
    self.batchSize = max(1, batchSize)
    self.shuffleSeed = shuffleSeed
  }

  /// The batches of one epoch, counted from 0: the same for the same seed and epoch.
  package func batches(epoch: Int) -> [Batch] {
    var generator = SeededGenerator(
      seed: (shuffleSeed ?? 0) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: epoch))
    var batches: [Batch] = []
    for (set, count) in exampleCounts.enumerated() {
      var rows = Array(0..<count)
      if shuffleSeed != nil { rows.shuffle(using: &generator) }
      for start in stride(from: 0, to: count, by: batchSize) {
        batches.append(Batch(set: set, rows: Array(rows[start..<min(start + batchSize, count)])))
      }
    }
    if shuffleSeed != nil, exampleCounts.count > 1 { batches.shuffle(using: &generator) }
    return batches
  }
}
