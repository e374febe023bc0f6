import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor

/// The work of an update task that trains parameters.
struct UpdateTraining {
  private let task: UpdateTask
  private let session: TrainingSession
  private let data: ExampleSet
  private let validation: ExampleSet?
  private let section: UpdateSection
  private let formerHistory: [UpdateRecord]

  init(_ task: UpdateTask) throws {
    self.task = task
    let model = task.model
    let (numbers, configuration) = (task.numbers, task.configuration)
    section = numbers.section
    formerHistory = model.updateHistory
    let main = section.losses[0]
    let names = section.layers.flatMap(\.parameters)
    let selection = ParameterSelection.matching(
      names.map { NSRegularExpression.escapedPattern(for: $0) })
    let losses = UpdateLosses(
      losses: section.losses, weights: configuration.lossWeights, takesLogits: model.coreML == nil)
    let isOutput = model.outputs.contains { $0.name == model.coreML?.predictedProbabilitiesName }
    session = try TrainingSession(
      model,
      output: main.kind == .categoricalCrossEntropy && isOutput
        ? model.coreML?.predictedProbabilitiesName : main.input,
      trainable: selection, loss: configuration.loss ?? losses.loss(),
      optimizer: configuration.optimizer ?? numbers.optimizer(), options: configuration.options)
    _ = try numbers.apply(configuration.parameters, to: session)
    data = try Self.examples(task.examples, section, model, changing: true)
    let section = section
    validation = try configuration.validation.map { examples in
      try locating("validation") {
        try Self.examples(examples, section, model, changing: false)
      }
    }
  }

  /// The examples as a session takes them.
  private static func examples(
    _ examples: UpdateExamples, _ section: UpdateSection, _ model: Model, changing: Bool
  ) throws -> ExampleSet {
    let targets = UpdateTargets(of: model)
    func input(_ loss: UpdateLoss) -> String {
      let label = model.coreML?.predictedFeatureName ?? ""
      let isGiven = model.coreML?.trainingInputs.contains { $0.name == loss.target } ?? true
      return loss.kind == .categoricalCrossEntropy && !isGiven && !label.isEmpty
        ? label : loss.target
    }
    let main = section.losses[0]
    let names = model.inputs.map(\.name)
    let further = section.losses.dropFirst().map { (loss: $0, input: input($0)) }
    return try ExampleSet(
      name: "examples", targets: try targets.all(input(main), main.kind, of: examples),
      variants: changing ? examples.variants : nil
    ) { index, generator in
      var tensors = try examples.inputs(
        names, of: index, for: model, using: &generator)
      for (loss, input) in further {
        tensors[loss.target] = try targets.one(
          try examples.value(input, of: index), input, loss.kind)
      }
      return tensors
    }
  }

  /// Trains until the end or until the task is cancelled.
  func run() throws -> UpdateContext {
    var metrics = UpdateMetrics()
    var records: [UpdateRecord] = []
    var checkpoint = task.configuration.resuming
    var done = checkpoint?.epoch ?? 0
    var hasBegun = false
    repeat {
      let options = task.numbers.fitOptions(after: checkpoint == nil ? done : 0, task.configuration)
      let run = try session.fit(
        [data], validation: validation.map { [$0] } ?? [], options, resuming: checkpoint)
      checkpoint = nil
      let first = done
      let events = run.makeAsyncIterator()
      var isRearranged = false
      while let event = try nextEvent(events, metrics, records) {
        if event.kind == .begin, !hasBegun {
          hasBegun = true
          task.tell(.trainingBegin, metrics) { model(records) }
        }
        if event.kind == .batch {
          metrics = UpdateMetrics(
            epochIndex: epoch(event, first, options), miniBatchIndex: event.batch - 1,
            loss: event.batchLoss)
          task.tell(.miniBatchEnd, metrics) { model(records) }
        }
        if event.kind == .epoch {
          metrics.loss = event.loss
          metrics.validationLoss = event.validation?.loss
          metrics.validationAccuracy = event.validation?.accuracy
          records.append(record(event, metrics, done))
          done += 1
          task.tell(.epochEnd, metrics) { model(records) }
        }
        let change = try task.numbers.apply(task.takePending(), to: session)
        isRearranged = isRearranged || change
        if task.isCancelling { run.control.stop() }
        if event.kind == .epoch, isRearranged, !task.isCancelling {
          try requireNoCheckpoints()
          break
        }
      }
    } while !task.isCancelling && done < task.numbers.whole("epochs")
    return task.context(nil, metrics, model(records))
  }

  /// The next event; what was learned is kept when it fails.
  private func nextEvent(
    _ events: TrainingRun.Iterator, _ metrics: UpdateMetrics, _ records: [UpdateRecord]
  ) throws -> TrainingEvent? {
    do {
      return try events.nextEvent()
    } catch {
      task.keep(metrics, model(records))
      throw error
    }
  }

  private func epoch(_ event: TrainingEvent, _ first: Int, _ options: FitOptions) -> Int {
    task.configuration.resuming == nil ? first + event.epoch - 1 : event.epoch - 1
  }

  private func requireNoCheckpoints() throws {
    guard task.configuration.checkpoints != nil else { return }
    throw GraftError(
      .invalidArgument,
      "the size of mini-batches, the epochs or the order changed while checkpoints are written",
      fix: "Begin another task, or write no checkpoints")
  }

  private func record(
    _ event: TrainingEvent, _ metrics: UpdateMetrics, _ done: Int
  ) -> UpdateRecord {
    UpdateRecord(
      epoch: formerHistory.count + done + 1, run: (formerHistory.last?.run ?? 0) + 1,
      loss: event.loss, validationLoss: metrics.validationLoss,
      accuracy: metrics.validationAccuracy,
      learningRate: Double("\(event.learningRate)") ?? Double(event.learningRate))
  }

  private func model(_ records: [UpdateRecord]) -> Model {
    var model = session.model
    model.updateHistory = formerHistory + records
    return model
  }
}
