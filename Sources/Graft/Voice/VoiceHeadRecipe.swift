import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftLearning
import GraftOperators
import GraftTensor

/// How the head of a voice model is trained on features.
struct VoiceHeadRecipe {
  let head: Model
  let output: String
  let trainable: ParameterSelection
  let classCount: Int
  let options: VoiceTrainer.Options

  /// Everyone else together counts four times as much as each person, however many recordings there
  /// are: a wrong acceptance is worse than a wrong rejection.
  private static let shareOfOthers: Float = 4

  /// Trains from the head's first values.
  ///
  /// - Returns: the trained parameters.
  func train(_ examples: VoiceExamples, epochDone: (Int, Double) -> Void) async throws
    -> OrderedTable<Tensor>
  {
    var counts = [Float](repeating: 0, count: classCount)
    for row in examples.rows { counts[row.label] += 1 }
    let shares = counts.indices.map { $0 == 0 ? Self.shareOfOthers : 1 }
    let scale = Float(examples.rows.count) / shares.reduce(0, +)
    let weights = zip(shares, counts).map { $1 > 0 ? $0 / $1 * scale : 0 }
    var trainingOptions = TrainingOptions()
    trainingOptions.threads = options.threads
    trainingOptions.batchNormalization = .frozen
    let session = try TrainingSession(
      head, output: output, trainable: trainable,
      loss: .crossEntropy(classWeights: weights), optimizer: options.optimizer,
      options: trainingOptions)
    let run = try session.fit(
      try examples.sets(), epochs: options.epochs, batchSize: options.batchSize,
      shuffleSeed: options.seed)
    for try await event in run where event.kind == .epoch {
      epochDone(event.epoch, event.loss)
    }
    return session.changedParameters
  }

  /// The class probabilities of every row.
  func scores(_ parameters: OrderedTable<Tensor>, _ examples: VoiceExamples) throws -> [[Double]] {
    var model = head
    for (name, value) in parameters { model.graph.initializers[name] = value }
    let plan = try Plan(model.graph, outputs: [output], registry: .standard, options: .standard)
    return try examples.rows.map { row in
      let outputs = try plan.run(row.features, threads: options.threads)
      return softmax(outputs[output]?.numbers ?? [])
    }
  }
}
