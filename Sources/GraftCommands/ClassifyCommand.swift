import Foundation
import Graft

/// `graft classify`: what pictures show, what is heard in recordings, or what class a text has: as the
/// model says.
enum ClassifyCommand: Command {
  static let specification = CommandSpecification(
    name: "classify", summary: "Classify pictures and videos, recordings or texts",
    positionals: "INPUT...", positionalCount: 1...Int.max,
    options: PictureTaskArguments.options(threshold: nil, writesCopies: false) + [
      .flag("--softmax", "pictures: the model gives logits: make probabilities of them"),
      .value("--overlap", "SHARE", "recordings: what windows have in common, 0 to 0.95; 0"),
    ],
    example: "graft classify --model mobilenet.tflite --max 3 parrot.jpg",
    notes: PictureTaskArguments.notes
      + "\nWith a model that takes sound, INPUT is a recording or a folder of recordings;"
      + "\nwith one that takes words, a file with a text on each line.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let given = try PictureTaskArguments(arguments, threshold: nil)
    var options = given.task
    options.maximumResults = options.maximumResults ?? 5
    let model = try given.open { $0 }
    if model.takesText {
      let classifier = try locating(given.model) { try TextClassifier(model, options: options) }
      return try TextTask(classifier, given, arguments.positionals, console).run()
    }
    guard model.takesPictures else {
      let overlap = Double(try arguments.float("--overlap") ?? 0)
      let classifier = try locating(given.model) {
        try AudioClassifier(model, options: options, overlap: overlap)
      }
      return try SoundTask(classifier, given, arguments.positionals, console).run()
    }
    let call = try PictureTaskCall(arguments, console, mark: "_classified", threshold: nil)
    let classifier = try locating(given.model) {
      try ImageClassifier(model, options: options, appliesSoftmax: arguments.has("--softmax"))
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
