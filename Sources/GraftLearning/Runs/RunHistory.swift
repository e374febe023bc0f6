import Foundation
import GraftDiagnostics

/// What became of a run, epoch by epoch: `history.json`. It goes on when the run is resumed.
package struct RunHistory: Codable, Sendable, Equatable {
  package struct Epoch: Codable, Sendable, Equatable {
    /// Counted from 1.
    package var epoch: Int
    /// Which start of the run trained it, counted from 1.
    package var run: Int
    /// Optimizer updates until its end.
    package var step: Int
    package var loss: Double
    package var validationLoss: Double?
    /// Of the validation examples, 0 to 1.
    package var accuracy: Double?
    /// Of the validation examples, when targets are no classes.
    package var rootMeanSquaredError: Double?
    package var learningRate: Double
    package var seconds: Double

    package init(_ event: RunEvent) {
      epoch = event.epoch ?? 0
      run = event.run ?? 0
      step = event.step ?? 0
      loss = event.loss ?? .nan
      validationLoss = event.validation?.loss
      accuracy = event.validation?.accuracy
      rootMeanSquaredError = event.validation?.rootMeanSquaredError
      learningRate = event.learningRate ?? .nan
      seconds = event.seconds ?? 0
    }
  }

  /// One time that the run was started.
  package struct Start: Codable, Sendable, Equatable {
    /// Counted from 1.
    package var run: Int
    package var started: Date
    /// Updates that had been done before.
    package var firstStep: Int
    package var ended: Date?
    /// Nil while it goes on, and when it was killed.
    package var outcome: RunEvent.Outcome?
    /// The classifier that was put on features; nil when parameters were trained.
    package var head: RunEvent.Head?
    /// How the model did on the validation data in the end.
    package var validation: RunScores?
  }

  package var epochs: [Epoch] = []
  package var runs: [Start] = []

  package init() {}

  /// - Throws: `notFound`, `inputOutput`, or `damaged` with what is wrong.
  package init(contentsOf folder: RunFolder) throws {
    self = try RunFile.read(
      RunHistory.self, from: folder.history, fix: "Remove the file; it is made again from log.jsonl"
    )
  }

  /// The history that a log tells.
  package init(replaying events: some Sequence<RunEvent>) {
    for event in events { observe(event) }
  }

  /// Takes in an event. An epoch that is trained again, since the run was killed behind its last
  /// checkpoint, replaces its former entry and all after it.
  package mutating func observe(_ event: RunEvent) {
    switch event.event {
    case .begin:
      forget(after: event.epoch ?? 0)
      runs.append(
        Start(run: event.run ?? runs.count + 1, started: event.time, firstStep: event.step ?? 0))
    case .epoch:
      let entry = Epoch(event)
      forget(after: entry.epoch - 1)
      epochs.append(entry)
    case .end:
      guard let last = runs.indices.last else { return }
      runs[last].ended = event.time
      runs[last].outcome = event.outcome
      runs[last].head = event.head
      runs[last].validation = event.validation
    case .batch, .checkpoint, .file, .warning: break
    }
  }

  private mutating func forget(after epoch: Int) { epochs.removeAll { $0.epoch > epoch } }

  /// How the run's last start ended; nil when it goes on or was killed.
  package var outcome: RunEvent.Outcome? { runs.last?.outcome }

  package func write(to folder: RunFolder) throws {
    try RunFile.write(self, to: folder.history)
  }
}
