import GraftDiagnostics
import GraftTensor

/// Examples dealt out to folds so that each fold has about the same share of every class, and all
/// copies of an example lie in one fold.
struct StratifiedFolds: Sendable {
  /// For each fold the rows that are held out, ascending.
  let heldOut: [[Int]]

  /// - Parameters:
  ///   - classes: of each row.
  ///   - groups: of each row; rows of one group are copies of one example.
  /// - Throws: `badData` when a group has rows of two classes, or a class fewer than two groups.
  init(classes: [Int], labels: [ClassLabel], groups: [Int], count: Int, seed: UInt64) throws {
    var members: [Int: [Int]] = [:]
    var order: [Int] = []
    for (row, group) in groups.enumerated() {
      if members[group] == nil { order.append(group) }
      members[group, default: []].append(row)
    }
    var byClass = [[Int]](repeating: [], count: labels.count)
    for group in order {
      let rows = members[group] ?? []
      guard let first = rows.first else { continue }
      if let other = rows.first(where: { classes[$0] != classes[first] }) {
        throw GraftError(
          .badData,
          "rows \(first) and \(other), counted from 0, are copies of one example but of the classes "
            + "'\(labels[classes[first]])' and '\(labels[classes[other]])'",
          fix: "Give copies the same label, or different examples different groups")
      }
      byClass[classes[first]].append(group)
    }
    if let lonely = byClass.indices.first(where: { byClass[$0].count < 2 }) {
      throw GraftError(
        .badData,
        "the class '\(labels[lonely])' has \(byClass[lonely].count) example, and cross validation "
          + "needs two",
        fix: "Give at least two examples of each class, or choose a head yourself")
    }
    var generator = SeededGenerator(seed: seed)
    var folds = [[Int]](repeating: [], count: count)
    var next = 0
    for groups in byClass {
      for group in groups.shuffled(using: &generator) {
        folds[next % count] += members[group] ?? []
        next += 1
      }
    }
    heldOut = folds.filter { !$0.isEmpty }.map { $0.sorted() }
  }
}
