import Foundation
import Graft
import GraftLearning

/// How a model does on pictures of gestures, one by one and together.
struct GesturesEvaluation: Encodable {
  struct Answer: Encodable {
    let picture: String
    let label: String
    let predicted: String
    /// Of the predicted gesture.
    let confidence: Double
    var isRight: Bool { label == predicted }
  }

  private enum CodingKeys: String, CodingKey { case answers, report }

  let answers: [Answer]
  let evaluation: Evaluation
  private let report: EvaluationReport

  /// - Parameters:
  ///   - names: of the pictures; their numbers when nil.
  init(_ model: Model, _ set: ExampleSet, names: [String]? = nil, threads: Int? = nil) throws {
    let labels = model.labels ?? []
    let known = set.labels ?? labels
    // The model may know more gestures, in another order.
    let places = try known.map { label in
      guard let place = labels.firstIndex(of: label) else {
        throw GraftError(
          .badData, "the model does not know the gesture '\(label)'",
          fix: "Train it again with the pictures that are there now")
      }
      return place
    }
    let classes = try set.requiredClasses()
    let renumbered = try ExampleSet(
      name: set.name, targets: try Tensor(classes.map { Int64(places[$0]) }), labels: labels
    ) { row in try set.load(row: row) }
    let evaluator = try ModelEvaluator(
      model, loss: .crossEntropy, like: renumbered, givesProbabilities: true, threads: threads)
    var answers: [Answer] = []
    evaluation = try evaluator.evaluate([renumbered]) { _, rows, output in
      let values = try output.values(as: Float.self)
      let count = labels.count
      for (index, row) in rows.enumerated() {
        let scores = values[index * count..<(index + 1) * count]
        guard let best = scores.indices.max(by: { scores[$0] < scores[$1] }) else { continue }
        answers.append(
          Answer(
            picture: names?[row] ?? "\(row)", label: known[classes[row]],
            predicted: labels[best - index * count], confidence: Double(scores[best])))
      }
    }
    self.answers = answers
    report = EvaluationReport(evaluation, labels: labels)
  }

  /// One line, such as `13 of 15 right, 86.7 %`.
  var summary: String {
    let right = answers.count(where: \.isRight)
    return "\(right) of \(answers.count) right, "
      + (Double(right) / Double(max(1, answers.count))).percent
  }

  /// For people.
  var lines: [String] {
    var lines = answers.map { answer in
      let word = answer.isRight ? "right" : "WRONG"
      let confidence = String(format: "%.3f", answer.confidence)
      return "\(word)  \(answer.label) -> \(answer.predicted) \(confidence)  \(answer.picture)"
    }
    lines += [""] + report.lines
    lines += ["", summary]
    return lines
  }
}
