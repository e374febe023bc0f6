import Foundation
import Graft

/// An evaluation as it is printed.
struct EvaluationReport: Encodable {
  struct ClassScores: Encodable {
    let label: String
    /// Examples of the class, and how often it was predicted.
    let examples: Int
    let predicted: Int
    /// Nil when the class was never predicted, or has no examples.
    let precision: Double?
    let recall: Double?
    let f1: Double?
  }

  let examples: Int
  let loss: Double
  var accuracy: Double?
  /// The share of examples whose class is among the five most probable; nil with fewer than six
  /// classes.
  var top5Accuracy: Double?
  var classes: [ClassScores]?
  /// Rows are the right classes, columns the predicted ones.
  var confusion: [[Int]]?
  var rootMeanSquaredError: Double?
  var meanAbsoluteError: Double?
  var maximumError: Double?

  init(_ evaluation: Evaluation, labels: [String]?) {
    examples = evaluation.exampleCount
    loss = evaluation.loss
    if let metrics = evaluation.classification {
      accuracy = metrics.accuracy
      if metrics.classCount > 5 { top5Accuracy = metrics.topAccuracy(5) }
      confusion = metrics.confusion
      classes = (0..<metrics.classCount).map { index in
        ClassScores(
          label: labels.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? "\(index)",
          examples: metrics.actualCounts[index], predicted: metrics.predictedCounts[index],
          precision: metrics.precision[index], recall: metrics.recall[index], f1: metrics.f1[index])
      }
    }
    if let metrics = evaluation.regression {
      rootMeanSquaredError = metrics.rootMeanSquaredError
      meanAbsoluteError = metrics.meanAbsoluteError
      maximumError = metrics.maximumError
    }
  }

  /// For people.
  var lines: [String] {
    var lines = ["examples: \(examples)", "loss: \(loss.short)"]
    if let accuracy { lines.append("accuracy: \(Self.percent(accuracy))") }
    if let top5Accuracy { lines.append("among the first five: \(Self.percent(top5Accuracy))") }
    if let error = rootMeanSquaredError { lines.append("root mean squared error: \(error.short)") }
    if let error = meanAbsoluteError { lines.append("mean absolute error: \(error.short)") }
    if let error = maximumError { lines.append("largest error: \(error.short)") }
    guard let classes, classes.count <= 50 else { return lines }
    lines += ["", Self.table(scores(classes))]
    if let confusion, confusion.count <= 20 {
      lines += [
        "", "right class (rows), predicted class (columns):", Self.table(matrix(confusion)),
      ]
    }
    return lines
  }

  private func scores(_ classes: [ClassScores]) -> [[String]] {
    func share(_ value: Double?) -> String { value.map(Self.percent) ?? "-" }
    return [["class", "examples", "precision", "recall", "F1"]]
      + classes.map {
        [$0.label, "\($0.examples)", share($0.precision), share($0.recall), share($0.f1)]
      }
  }

  private func matrix(_ confusion: [[Int]]) -> [[String]] {
    let labels = classes?.map(\.label) ?? []
    return [[""] + labels] + zip(labels, confusion).map { [$0] + $1.map(String.init) }
  }

  private static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

  /// Columns as wide as their widest cell; the first to the left, the others to the right.
  private static func table(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      zip(row, widths).enumerated().map { index, cell in
        let padding = String(repeating: " ", count: cell.1 - cell.0.count)
        return index == 0 ? cell.0 + padding : padding + cell.0
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
