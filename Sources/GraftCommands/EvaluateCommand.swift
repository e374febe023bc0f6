import Foundation
import Graft
import GraftLearning

/// `graft evaluate`: how well a model does on examples.
enum EvaluateCommand: Command {
  static let specification = CommandSpecification(
    name: "evaluate", summary: "Measure a model on examples",
    positionals: "MODEL|RUN", positionalCount: 1...1,
    options: [
      DataArguments.options, TrainingArguments.lossOptions, InputPreparation.options,
      ownOptions,
    ].flatMap(\.self),
    example: "graft evaluate runs/pictures --data test",
    notes: """
      Of a run its model is measured, with the loss and the preparation of data it was trained with.
      Classes: loss, accuracy, precision and recall of every class, and how often each class (row)
      was taken for each (column). Other values: the root of the mean squared error, the mean and
      the largest absolute error.
      """)

  private static let ownOptions: [OptionSpecification] = [
    .value("--batch-size", "N", "examples that run at once, 32"),
    .value("--predictions", "FILE", "what the model says of every example, .csv or .json"),
    .value("--threads", "N", "threads; all cores by default"),
    .flag("--json", "print JSON"),
  ]

  static func run(_ given: Arguments, _ console: Console) async throws {
    let source = try ModelArgument(given.positionals[0])
    let path = source.path
    let arguments = try source.runOptions().map(given.adding) ?? given
    let loss = try TrainingArguments.loss(arguments)
    let paths = try DataArguments.paths(given)
    let batchSize = try given.int("--batch-size") ?? 32
    let threads = try arguments.threads()
    let file = try given.string("--predictions").map { try PredictionFile($0, inputs: [path]) }
    let model = try source.open()
    let reader = try DataReader(arguments, InputPreparation(arguments, for: model), console)
    let data = try paths.map {
      try reader.sets($0, changing: false, labels: model.labels).training
    }
    guard let first = data.first else { return }
    let labels = first.labels ?? model.labels
    let evaluator = try locating(path) {
      try ModelEvaluator(
        model, output: arguments.string("--output"), loss: loss, like: first,
        givesProbabilities: model.metadata[HeadTraining.scoresKey] == "probabilities",
        threads: threads)
    }
    let reading = OutputReading(loss, labels: labels)
    var predictions: [Prediction] = []
    var done = 0
    let total = data.reduce(0) { $0 + $1.count }
    let evaluation = try locating(path) {
      try evaluator.evaluate(data, batchSize: batchSize) { set, rows, output in
        done += rows.count
        console.progress(Double(done) / Double(max(1, total)), "\(done) of \(total) examples")
        guard file != nil else { return }
        let values = try reading.predictions(output)
        for (row, var prediction) in zip(rows, values) {
          prediction.example = data[set].exampleName(row)
          prediction.target = try reading.target(data[set].targets, row)
          predictions.append(prediction)
        }
      }
    }
    console.clearProgress()
    try file?.write(predictions)
    if given.has("--json") {
      try console.print(json: EvaluationReport(evaluation, labels: labels))
    } else {
      for line in EvaluationReport(evaluation, labels: labels).lines { console.print(line) }
      if let file { console.print("wrote \(file.path)") }
    }
  }
}
