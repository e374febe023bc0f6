import Foundation
import Graft

/// `graft classify`: what pictures show.
enum ClassifyCommand: Command {
  static let specification = CommandSpecification(
    name: "classify", summary: "Tell what pictures, videos and camera images show",
    positionals: "INPUT...", positionalCount: 1...Int.max,
    options: PictureTaskArguments.options(threshold: nil, writesCopies: false) + [
      .flag("--softmax", "the model gives logits: make probabilities of them")
    ],
    example: "graft classify --model mobilenet.tflite --max 3 parrot.jpg",
    notes: PictureTaskArguments.notes)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let call = try PictureTaskCall(arguments, console, mark: "_classified", threshold: nil)
    var options = call.arguments.task
    options.maximumResults = options.maximumResults ?? 5
    let classifier = try call.arguments.open {
      try ImageClassifier($0, options: options, appliesSoftmax: arguments.has("--softmax"))
    }
    try call.run(
      PictureTask(
        columns: ["label", "class", "score"], preprocessing: classifier.preprocessing
      ) { picture, _ in answer(try classifier.classify(picture)) })
  }

  private static func answer(_ categories: [Category]) -> TaskAnswer {
    let text = categories.map { "\($0.name) \(String(format: "%.3f", $0.score))" }
    return TaskAnswer(
      results: TaskResults(classes: categories.map(TaskResults.Class.init)),
      rows: categories.map { [$0.label ?? "", "\($0.index)", $0.score.cell] },
      text: text.isEmpty ? "nothing" : text.joined(separator: ", ")
    ) { $0.draw(categories) }
  }
}
