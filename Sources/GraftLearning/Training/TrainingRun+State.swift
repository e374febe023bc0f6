import Foundation
import GraftDiagnostics
import GraftTensor

extension TrainingRun.Iterator {
  /// Why the run is over; nil while it is not.
  var endReason: TrainingEvent.EndReason? {
    let options = run.options
    if let updates = options.updates, session.updateCount - state.firstUpdate >= updates {
      return .completed
    }
    if let epochs = options.epochs, state.epoch >= epochs { return .completed }
    if let stopping = options.earlyStopping, state.batch == 0, state.epoch > 0,
      state.waitedEpochs >= stopping.patience
    {
      return .earlyStopping
    }
    return run.control.isStopped ? .stopped : nil
  }

  /// Notes how the epoch that ends went, and whether it is the best so far.
  func recordEpoch() {
    let validation = state.validation
    state.history.append(
      EpochRecord(
        epoch: state.epoch + 1, step: session.updateCount, loss: state.loss,
        learningRate: state.learningRate, validationLoss: validation?.loss,
        validationAccuracy: validation?.accuracy))
    let watched = validation?.loss ?? state.loss
    _ = session.plateau?.observe(watched)
    let change = run.options.earlyStopping?.minimumChange ?? 0
    guard watched < (state.best.map { $0.loss - change } ?? .infinity) else {
      state.waitedEpochs += 1
      writer?.epochIsOver(isBest: false)
      return
    }
    state.best = RunState.Best(loss: watched, epoch: state.epoch + 1, validation: validation)
    state.waitedEpochs = 0
    if run.options.earlyStopping?.restoresBest == true { best = session.values }
    writer?.epochIsOver(isBest: true)
  }

  /// The state between two batches, as it is written down.
  var checkpoint: TrainingCheckpoint { session.checkpoint(run: state, best: best) }

  /// Writes a checkpoint if it is time for one.
  func writeDueCheckpoint() -> TrainingEvent? {
    guard let file = writer?.dueFile(step: session.updateCount) else { return nil }
    return write(to: file)
  }

  /// Writes a checkpoint, if the run writes any.
  func writeCheckpoint() -> TrainingEvent? {
    guard let file = writer?.file(step: session.updateCount) else { return nil }
    return write(to: file)
  }

  /// A failure ends nothing: the next checkpoint is written when it is due.
  private func write(to file: URL) -> TrainingEvent? {
    do {
      try writer?.write(checkpoint, to: file)
      return event(.checkpoint, checkpoint: file)
    } catch {
      return event(
        .checkpoint, warning: "no checkpoint was written, training goes on: \(error)")
    }
  }

  func event(
    _ kind: TrainingEvent.Kind, step: Int? = nil, validation: Evaluation? = nil,
    checkpoint: URL? = nil, warning: String? = nil, reason: TrainingEvent.EndReason? = nil
  ) -> TrainingEvent {
    // Between two epochs, the one that is over.
    let isBetween = state.batch == 0 && state.epoch > 0
    return TrainingEvent(
      kind: kind, epoch: isBetween ? state.epoch : state.epoch + 1,
      step: step ?? session.updateCount, batch: isBetween ? batchCount : state.batch,
      batchCount: batchCount, batchLoss: state.batchLoss, loss: state.loss,
      learningRate: state.learningRate, gradientNorm: session.gradientNorm,
      examplesPerSecond: pace.examplesPerSecond,
      timeLeft: batchesLeft.flatMap(pace.duration), validation: validation,
      checkpoint: checkpoint, warning: warning, reason: reason)
  }
}

/// How quickly batches run, the last ones counting most.
struct TrainingPace {
  private var seconds = 0.0
  private var batches = 0.0
  private var examples = 0.0
  /// How much of what was before counts after each batch.
  private static let memory = 0.95

  mutating func add(_ exampleCount: Int, _ duration: Duration) {
    seconds = Self.memory * seconds + duration / .seconds(1)
    batches = Self.memory * batches + 1
    examples = Self.memory * examples + Double(exampleCount)
  }

  var examplesPerSecond: Double? { seconds > 0 ? examples / seconds : nil }

  func duration(ofBatches count: Int) -> Duration? {
    batches > 0 ? .seconds(seconds / batches * Double(count)) : nil
  }
}
