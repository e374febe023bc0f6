import Foundation

extension RunEvent {
  /// What a training session tells, in the words of a run's log.
  ///
  /// - Parameters:
  ///   - options: of the run, for how much there is to do.
  ///   - epochsBefore: epochs that were over when training was started this time.
  package init(_ event: TrainingEvent, _ options: FitOptions, epochsBefore: Int) {
    self.init(Kind(event.kind))
    epoch = event.kind == .begin ? epochsBefore : event.epoch
    epochs = options.epochs
    step = event.step
    steps = options.updates
    message = event.warning
    if event.kind == .checkpoint { file = event.checkpoint?.lastPathComponent }
    if event.kind == .checkpoint, event.checkpoint == nil { self.event = .warning }
    if event.kind == .batch {
      batch = event.batch
      batches = event.batchCount
      batchLoss = event.batchLoss
      gradientNorm = event.gradientNorm
      examplesPerSecond = event.examplesPerSecond
      secondsLeft = event.timeLeft.map { $0 / .seconds(1) }
    }
    if event.kind == .batch || event.kind == .epoch {
      loss = event.loss
      // As a person writes it, not with the digits that a float adds.
      learningRate = Double("\(event.learningRate)") ?? Double(event.learningRate)
    }
    validation = event.validation.map(RunScores.init)
    outcome = event.reason.map(Outcome.init)
  }
}

extension RunEvent.Kind {
  fileprivate init(_ kind: TrainingEvent.Kind) {
    switch kind {
    case .begin: self = .begin
    case .batch: self = .batch
    case .epoch: self = .epoch
    case .checkpoint: self = .checkpoint
    case .end: self = .end
    }
  }
}

extension RunEvent.Outcome {
  fileprivate init(_ reason: TrainingEvent.EndReason) {
    switch reason {
    case .completed: self = .done
    case .earlyStopping: self = .stoppedEarly
    case .stopped: self = .interrupted
    }
  }
}

extension RunScores {
  init(_ evaluation: Evaluation) {
    self.init(
      loss: evaluation.loss, accuracy: evaluation.accuracy,
      rootMeanSquaredError: evaluation.regression?.rootMeanSquaredError)
  }
}
