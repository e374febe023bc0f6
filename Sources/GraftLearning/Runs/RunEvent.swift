import Foundation

/// A line of `log.jsonl`, which is also what `--json` prints: something that happened in a run.
package struct RunEvent: Codable, Sendable, Equatable {
  package enum Kind: String, Codable, Sendable {
    /// Training was started, for the first time or to go on.
    case begin
    case batch
    case epoch
    /// A state was written from which the run can go on.
    case checkpoint
    /// A file with a result was written.
    case file
    /// Something went wrong that does not end the run.
    case warning
    case end
  }

  /// How a start of training came to its end.
  package enum Outcome: String, Codable, Sendable {
    case done
    /// Training ended before its last epoch, as it got no better.
    case stoppedEarly = "stopped early"
    case interrupted
    case failed
  }

  package var event: Kind
  package var time: Date
  /// How often the run has been started, this time included.
  package var run: Int?
  /// Counted from 1, and how many there will be.
  package var epoch: Int?
  package var epochs: Int?
  /// Optimizer updates, and how many there will be.
  package var step: Int?
  package var steps: Int?
  /// The batch's number in its epoch, counted from 1, and how many there are.
  package var batch: Int?
  package var batches: Int?
  /// The mean loss of the epoch so far.
  package var loss: Double?
  package var batchLoss: Double?
  package var learningRate: Double?
  package var gradientNorm: Double?
  package var examplesPerSecond: Double?
  package var secondsLeft: Double?
  /// How long the epoch took.
  package var seconds: Double?
  package var validation: RunScores?
  /// A file that was written.
  package var file: String?
  package var message: String?
  package var outcome: Outcome?
  /// The classifier that was put on features.
  package var head: Head?

  package struct Head: Codable, Sendable, Equatable {
    package var name: String
    /// In cross validation, 0 to 1.
    package var accuracy: Double

    package init(name: String, accuracy: Double) {
      self.name = name
      self.accuracy = accuracy
    }
  }

  package init(_ event: Kind, time: Date = Date(), run: Int? = nil) {
    self.event = event
    self.time = time
    self.run = run
  }

  /// The share of the run that is done, 0 to 1; nil when that is not known.
  package var fraction: Double? {
    if let step, let steps, steps > 0 { return min(1, Double(step) / Double(steps)) }
    guard let epoch, let epochs, epochs > 0 else { return nil }
    guard let batch, let batches, batches > 0 else { return min(1, Double(epoch) / Double(epochs)) }
    return min(1, (Double(epoch - 1) + Double(batch) / Double(batches)) / Double(epochs))
  }

  /// The event as one line, without its end.
  package func line() throws -> Data { try RunFile.encoder(pretty: false).encode(self) }
}

/// How a model does on validation examples.
package struct RunScores: Codable, Sendable, Equatable {
  package var loss: Double
  /// The share of examples whose class is right; nil unless the targets are classes.
  package var accuracy: Double?
  /// The root of the mean squared error; nil when the targets are classes.
  package var rootMeanSquaredError: Double?

  package init(loss: Double, accuracy: Double? = nil, rootMeanSquaredError: Double? = nil) {
    self.loss = loss
    self.accuracy = accuracy
    self.rootMeanSquaredError = rootMeanSquaredError
  }
}
