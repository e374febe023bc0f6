import GraftTensor

/// Some examples of one set, by their numbers.
package struct Batch: Sendable, Equatable {
  package let set: Int
  package let rows: [Int]
  /// For each row a number that differs between the draws of the same example: it chooses the
  /// variant. Empty for examples unchanged.
  package let draws: [Int]

  package init(set: Int, rows: [Int], draws: [Int] = []) {
    self.set = set
    self.rows = rows
    self.draws = draws
  }
}

/// What happens with the last batch of a set when too few examples are left to fill it.
public enum LastBatch: String, Sendable, CaseIterable, Codable {
  /// It is smaller than the others.
  case keep
  /// Its examples are left out of this epoch; with shuffling they are others in the next.
  case drop
  /// It is filled with the first examples of the same epoch, which are then used twice.
  case wrap
}

/// The batches of an epoch. A batch holds examples of one set only.
package struct BatchOrder: Sendable {
  package let exampleCounts: [Int]
  package let batchSize: Int
  /// Nil for the order in which the examples are given.
  package let shuffleSeed: UInt64?
  package let lastBatch: LastBatch
  /// The class of every example of every set when all classes are drawn equally often.
  package let balancedClasses: [[Int]]?

  package init(
    exampleCounts: [Int], batchSize: Int, shuffleSeed: UInt64?, lastBatch: LastBatch = .keep,
    balancedClasses: [[Int]]? = nil
  ) {
    self.exampleCounts = exampleCounts
    self.batchSize = max(1, batchSize)
    self.shuffleSeed = shuffleSeed
    self.lastBatch = lastBatch
    self.balancedClasses = balancedClasses
  }

  /// The batches of one epoch, counted from 0: the same for the same seed and epoch.
  ///
  /// - Parameter epoch: nil for the order as given, without repetitions, and examples unchanged.
  package func batches(epoch: Int?) -> [Batch] {
    var generator = SeededGenerator(
      seed: (shuffleSeed ?? 0) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: epoch ?? 0))
    let isShuffled = shuffleSeed != nil && epoch != nil
    var drawn = exampleCounts.map { Array(0..<$0) }
    if let balancedClasses, epoch != nil {
      drawn = balance(balancedClasses, using: &generator)
    }
    var batches: [Batch] = []
    for (set, var rows) in drawn.enumerated() {
      if isShuffled { rows.shuffle(using: &generator) }
      batches += self.batches(of: set, rows, epoch)
    }
    if isShuffled, exampleCounts.count > 1 { batches.shuffle(using: &generator) }
    return batches
  }

  private func batches(of set: Int, _ rows: [Int], _ epoch: Int?) -> [Batch] {
    var timesDrawn: [Int: Int] = [:]
    return stride(from: 0, to: rows.count, by: batchSize).compactMap { start in
      var chosen = Array(rows[start..<min(start + batchSize, rows.count)])
      if chosen.count < batchSize {
        switch lastBatch {
        case .keep: break
        case .drop: return nil
        case .wrap: chosen += (0..<batchSize - chosen.count).map { rows[$0 % rows.count] }
        }
      }
      guard let epoch else { return Batch(set: set, rows: chosen) }
      let draws = chosen.map { row in
        defer { timesDrawn[row, default: 0] += 1 }
        return epoch &+ timesDrawn[row, default: 0] &* 0x1_0000_0000
      }
      return Batch(set: set, rows: chosen, draws: draws)
    }
  }

  /// The rows of every set, those of rare classes repeated until every class is drawn as often as
  /// the most frequent one. Which examples are repeated once more than others differs by epoch.
  private func balance(_ classes: [[Int]], using generator: inout SeededGenerator) -> [[Int]] {
    var members: [Int: [(set: Int, row: Int)]] = [:]
    for (set, numbers) in classes.enumerated() {
      for (row, number) in numbers.enumerated() { members[number, default: []].append((set, row)) }
    }
    let most = members.values.map(\.count).max() ?? 0
    var drawn = [[Int]](repeating: [], count: exampleCounts.count)
    for (_, examples) in members.sorted(by: { $0.key < $1.key }) {
      for _ in 0..<most / examples.count {
        for example in examples { drawn[example.set].append(example.row) }
      }
      let rest = examples.shuffled(using: &generator).prefix(most % examples.count)
      for example in rest { drawn[example.set].append(example.row) }
    }
    return drawn
  }
}
