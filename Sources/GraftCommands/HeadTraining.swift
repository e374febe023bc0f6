import Foundation
import Graft
import GraftLearning

/// Puts a classifier on a model's features, which stay as they are.
struct HeadTraining {
  let call: TrainingCall
  let trainer: PictureClassifierTrainer

  /// Marks models whose output is probabilities and no logits.
  static let scoresKey = "graft.scores"

  func run() async throws {
    guard !call.isDone else {
      return call.console.note("the run is done: the same call would give the same classifier")
    }
    try call.configure(trainable: [], [])
    var begin = RunEvent(.begin)
    begin.epoch = 0
    try call.emit(begin)
    var end = RunEvent(.end)
    do {
      let result = try await train()
      var model = try call.data.noting(in: result.model)
      model.labels = result.model.labels
      model.metadata[Self.scoresKey] = "probabilities"
      try call.check(model)
      call.console.clearProgress()
      if !call.arguments.has("--json") { call.console.print(result.choice.explanation) }
      end.message = result.choice.explanation
      let chosen = result.choice.chosen
      end.head = RunEvent.Head(
        name: "\(chosen.settings) on '\(chosen.features)'", accuracy: chosen.accuracy)
      end.validation = try scores(model)
      end.outcome = .done
      try call.finish(
        model, parameters: model.parameters.filter { name, _ in name.hasPrefix("head/") }, end)
    } catch let error as GraftError where error.code == .cancelled {
      end.outcome = .interrupted
      try call.emit(end)
      throw GraftError(.cancelled, "training was interrupted; nothing was learned yet")
    } catch {
      call.fail(end, error)
      throw error
    }
  }

  private func train() async throws -> PictureClassifierTrainer.Result {
    let (console, trainer) = (call.console, trainer)
    let task = Task {
      try trainer.train { progress in
        switch progress {
        case .features(let done, let count):
          console.progress(
            Double(done) / Double(max(1, count)), "features of \(done) of \(count) examples")
        case .choice(let share): console.progress(share, "choosing by cross validation")
        }
      }
    }
    let interrupt = Interrupt {
      console.note("ending; Ctrl-C again ends at once")
      task.cancel()
    }
    defer { withExtendedLifetime(interrupt) {} }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// How the model does on the validation data; nil without such data.
  private func scores(_ model: Model) throws -> RunScores? {
    guard let first = call.data.validation.first else { return nil }
    let evaluator = try ModelEvaluator(
      model, loss: .crossEntropy, like: first, givesProbabilities: true,
      threads: try call.arguments.threads())
    let evaluation = try evaluator.evaluate(call.data.validation)
    let scores = RunScores(loss: evaluation.loss, accuracy: evaluation.accuracy)
    if !call.arguments.has("--json"), let accuracy = evaluation.accuracy {
      call.console.print(String(format: "validation: accuracy %.1f %%", accuracy * 100))
    }
    return scores
  }
}
