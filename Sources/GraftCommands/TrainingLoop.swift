import Foundation
import Graft
import GraftLearning

/// Trains until the end, or until the user ends it.
struct TrainingLoop {
  let options: FitOptions
  /// One line of JSON for every batch, as '--log' asks for.
  let log: LineFile?
  let console: Console
  /// Is given every event but the last.
  let emit: (RunEvent) throws -> Void
  /// Is given the last event of a run that failed, and why.
  let fail: (RunEvent, any Error) -> Void

  /// - Parameter epochsBefore: epochs that are over already.
  /// - Returns: the event that ends the run.
  func run(_ run: TrainingRun, epochsBefore: Int) async throws -> RunEvent {
    let control = run.control
    let interrupt = Interrupt { [console] in
      console.note("ending after this step; Ctrl-C again ends at once")
      control.stop()
    }
    defer { withExtendedLifetime(interrupt) {} }
    var log = log
    var start = ContinuousClock.now
    var last = RunEvent(.end)
    do {
      for try await event in run {
        var told = RunEvent(event, options, epochsBefore: epochsBefore)
        if event.kind == .batch, let warning = write(event, to: &log) { try emit(warning) }
        if event.kind == .epoch {
          told.seconds = (ContinuousClock.now - start) / .seconds(1)
          start = .now
        }
        last = told
        if event.kind != .end { try emit(told) }
      }
    } catch let error as GraftError where error.code == .cancelled {
      last.outcome = .interrupted
    } catch {
      fail(ending(last), error)
      throw error
    }
    return ending(last)
  }

  private func ending(_ last: RunEvent) -> RunEvent {
    var end = RunEvent(.end)
    end.epoch = last.epoch
    end.epochs = last.epochs
    end.step = last.step
    end.steps = last.steps
    end.validation = last.validation
    end.message = last.message
    end.outcome = last.outcome
    return end
  }

  /// - Parameter log: nil from the first failure on.
  /// - Returns: what the user should know about a line that could not be written.
  private func write(_ event: TrainingEvent, to log: inout LineFile?) -> RunEvent? {
    do {
      try log?.write(
        LogLine(
          step: event.step, epoch: event.epoch, loss: event.batchLoss,
          learningRate: Double(event.learningRate)))
      return nil
    } catch {
      log = nil
      var warning = RunEvent(.warning)
      warning.message = "\(error) Training goes on without '--log'."
      return warning
    }
  }

  private struct LogLine: Encodable {
    let step: Int
    let epoch: Int
    let loss: Double
    let learningRate: Double

    enum CodingKeys: String, CodingKey {
      case step
      case epoch
      case loss
      case learningRate = "learning_rate"
    }
  }
}
