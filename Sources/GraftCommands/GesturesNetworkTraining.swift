import Foundation
import Graft
import GraftLearning

/// Trains the network on gestures with update tasks; its history goes on from call to call.
struct GesturesNetworkTraining {
  let call: GesturesCall

  func run() async throws {
    let model = try network()
    let display = TrainingDisplay(call.console, printsJSON: call.arguments.has("--json"))
    let recorder = try RunRecorder(call.project.run) { display.show($0) }
    let configuration = try configuration()
    let former = model.updateHistory.count
    try call.configure(recorder, hyperParameters: configuration.parameters.mapValues { "\($0)" })
    let (stream, tell) = AsyncStream.makeStream(of: RunEvent.self)
    let task = try UpdateTask(
      model, examples: try examples(), configuration: configuration,
      handlers: UpdateHandlers(
        progress: { tell.yield(Self.event($0, former)) }, completion: { _ in tell.finish() }))
    let interrupt = Interrupt { [console = call.console] in
      console.note("ending after this step; Ctrl-C again ends at once")
      task.cancel()
    }
    defer { withExtendedLifetime(interrupt) {} }
    task.resume()
    do {
      for await event in stream { try recorder.record(event) }
    } catch {
      task.cancel()
      throw error
    }
    let context = await task.completion()
    var end = RunEvent(.end)
    end.epoch = context.model.updateHistory.count
    end.outcome =
      task.state == .completed ? .done : task.state == .cancelled ? .interrupted : .failed
    if let error = task.error, task.state == .failed { end.message = "\(error)" }
    if task.state != .failed {
      try call.project.keep(context.model)
      try report(context.model, &end)
    }
    try recorder.record(end)
    if let error = task.error { throw error }
  }

  /// The network that was trained before, with new gestures added; else one that knows nothing.
  private func network() throws -> Model {
    let labels = call.folders.training.labels
    if call.project.hasModel {
      var model = try call.project.model()
      let known = model.labels ?? []
      let isSame =
        model.metadata[GesturesProject.methodKey] == "network"
        && GestureTrunk.name(in: model) == call.trunk.name
        && known.allSatisfy(labels.contains) && call.arguments.all("--features").isEmpty
      if isSame {
        let new = labels.filter { !known.contains($0) }
        if !new.isEmpty {
          try model.widen(classes: new, seed: call.seed)
          call.console.note("new gestures: \(new.joined(separator: ", "))")
        }
        return model
      }
    }
    // The layer whose features a linear classifier tells apart best.
    let choice = try call.chosen([.logistic(c: 0.01, .standard), .logistic(c: 0.1, .standard)])
    call.console.clearProgress()
    call.console.note("features '\(choice.features)'")
    var model = try GestureNetwork.empty(
      call.trunk, choice.features, pictures: call.training, labels: labels, seed: call.seed,
      threads: call.threads)
    model.metadata[GesturesProject.methodKey] = "network"
    return model
  }

  private func configuration() throws -> UpdateConfiguration {
    var configuration = UpdateConfiguration()
    configuration.parameters = [
      "epochs": Double(try call.arguments.int("--epochs") ?? 10),
      "miniBatchSize": Double(try call.arguments.int("--batch-size") ?? 8),
      "learningRate": Double(
        try call.arguments.float("--learning-rate", .positive) ?? 0.001),
      "seed": Double(call.seed % (1 << 53)),
    ]
    configuration.options.threads = call.threads
    if let folder = call.folders.testing, let set = call.testing {
      configuration.validation = GestureNetwork.examples(folder, call.trunk, set)
    }
    return configuration
  }

  private func examples() throws -> UpdateExamples {
    let augmentation = try AugmentationArguments(call.arguments)
    if augmentation.isGiven, call.trunk.usesHands {
      throw UsageError(
        "'--augment' changes pictures, and distances between landmarks stay the same",
        fix: "Leave it out with '--trunk hands'")
    }
    return GestureNetwork.examples(
      call.folders.training, call.trunk, call.training, augmentation: augmentation.pictures,
      variants: augmentation.variants)
  }

  /// What an update task tells, in the words of a run's log.
  private static func event(_ context: UpdateContext, _ former: Int) -> RunEvent {
    let metrics = context.metrics
    let kind: RunEvent.Kind =
      switch context.event {
      case .miniBatchEnd: .batch
      case .epochEnd: .epoch
      default: .begin
      }
    var event = RunEvent(kind)
    event.epoch = former + (kind == .begin ? 0 : metrics.epochIndex + 1)
    event.epochs = former + Int(context.parameters["epochs"] ?? 1)
    event.learningRate = context.parameters["learningRate"]
    if kind == .batch {
      event.batch = metrics.miniBatchIndex + 1
      event.batchLoss = metrics.loss
    }
    if kind != .begin { event.loss = metrics.loss }
    event.validation = metrics.validationLoss.map {
      RunScores(loss: $0, accuracy: metrics.validationAccuracy)
    }
    return event
  }

  private func report(_ model: Model, _ end: inout RunEvent) throws {
    guard let testing = call.testing else { return }
    let scores = try GesturesEvaluation(model, testing, threads: call.threads)
    end.validation = RunScores(loss: scores.evaluation.loss, accuracy: scores.evaluation.accuracy)
    if !call.arguments.has("--json") { call.console.print(scores.summary) }
  }
}
