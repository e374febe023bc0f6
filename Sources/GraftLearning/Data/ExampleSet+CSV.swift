import Foundation
import GraftDiagnostics
import GraftFormats
import GraftTensor

/// What the target column of a table holds.
public enum TargetKind: String, Sendable, Codable, CaseIterable {
  /// Every different value is a class. Classes are ordered by number when all are whole numbers, else
  /// by name.
  case classes
  /// Numbers to predict.
  case numbers
}

extension ExampleSet {
  /// Examples from a table with a line of column names: features are numbers.
  ///
  /// The targets are class numbers, int64 [rows], with `labels`, or numbers, float32 [rows, 1].
  ///
  /// - Parameters:
  ///   - target: the name of the column to predict.
  ///   - features: the names of the columns to predict from; all others when nil.
  ///   - input: the model's input, float32 [rows, features].
  ///   - kind: what the target is; when nil, numbers if all values are and one has a decimal point
  ///     or more than 20 are different, else classes.
  ///   - labels: the classes in their order, for a table of examples to test with; those found, when
  ///     nil.
  /// - Throws: `notFound`, `inputOutput`; `badData` naming line and column when the table is broken,
  ///   a column is not there, a value is missing, a feature is no number or a class is not among
  ///   `labels`.
  public init(
    csv url: URL, target: String, features: [String]? = nil, input: String = "features",
    kind: TargetKind? = nil, labels: [String]? = nil
  ) throws {
    let path = url.path
    let table = try CSVTable(path: path)
    self = try locating(path) {
      guard table.rowCount > 0 else {
        throw GraftError(
          .badData, "there are names of columns and no rows", fix: "Add one line per example")
      }
      let targetColumn = try table.column(target)
      let names = features ?? table.columns.filter { $0 != target }
      guard !names.isEmpty, !names.contains(target) else {
        throw GraftError(
          .badData,
          names.isEmpty ? "there is no feature column" : "the target '\(target)' is a feature too",
          fix: "Choose other columns")
      }
      let inputs = [input: try table.matrix(try names.map(table.column))]
      let values = try (0..<table.rowCount).map {
        try table.present(row: $0, column: targetColumn)
      }
      switch kind ?? (labels == nil ? likelyKind(of: values) : .classes) {
      case .numbers:
        return try ExampleSet(
          name: path, inputs: inputs, targets: try table.matrix([targetColumn]))
      case .classes:
        let labels = labels ?? sortedClasses(in: values)
        let numberOf = Dictionary(
          zip(labels, labels.indices), uniquingKeysWith: { first, _ in first })
        let numbers = try values.enumerated().map { row, value in
          guard let number = numberOf[value] else {
            throw GraftError(
              .badData, "'\(value)' is none of the classes: \(listing(labels))",
              at: table.place(row: row, column: targetColumn),
              fix: didYouMean(value, among: labels) ?? "Correct it, or leave the line out")
          }
          return Int64(number)
        }
        return try ExampleSet(
          name: path, inputs: inputs, targets: try Tensor(numbers), labels: labels)
      }
    }
  }
}

extension CSVTable {
  /// Columns as float32 [rows, columns].
  fileprivate func matrix(_ columns: [Int]) throws -> Tensor {
    var values: [Float] = []
    values.reserveCapacity(rowCount * columns.count)
    for row in 0..<rowCount {
      for column in columns {
        let value = Float(try number(row: row, column: column))
        guard value.isFinite else {
          throw GraftError(
            .badData, "the number is too large for float32",
            at: place(row: row, column: column), fix: "Scale the column, or correct the number")
        }
        values.append(value)
      }
    }
    return try Tensor(values, shape: [rowCount, columns.count])
  }
}

/// Classes for texts and for a few different whole numbers.
private func likelyKind(of values: [String]) -> TargetKind {
  let different = Set(values)
  guard different.allSatisfy({ Double($0) != nil }) else { return .classes }
  return different.count <= 20 && different.allSatisfy { Int($0) != nil } ? .classes : .numbers
}

private func sortedClasses(in values: [String]) -> [String] {
  let different = Set(values)
  let numbers = different.compactMap(Int.init)
  guard numbers.count == different.count else { return different.sorted() }
  return different.sorted { (Int($0) ?? 0, $0) < (Int($1) ?? 0, $1) }
}
