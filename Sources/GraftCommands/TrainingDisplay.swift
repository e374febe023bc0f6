import Foundation
import Graft
import GraftLearning

/// Tells a user what happens in a run: a line that is drawn over itself on a terminal, plain lines
/// elsewhere, or JSON.
final class TrainingDisplay {
  private let console: Console
  private let printsJSON: Bool
  private var lastBatch: RunEvent?

  /// - Parameter printsJSON: whether every event is printed as one JSON object on a line.
  init(_ console: Console, printsJSON: Bool = false) {
    self.console = console
    self.printsJSON = printsJSON
  }

  func show(_ event: RunEvent) {
    if printsJSON {
      // What a run tells can always be encoded.
      if let line = try? event.line() { console.print(String(decoding: line, as: UTF8.self)) }
      return
    }
    if event.event == .batch {
      console.progress(event.fraction ?? 0, Self.text(event))
    } else {
      showOther(event)
    }
    lastBatch = event.event == .batch ? event : event.event == .epoch ? nil : lastBatch
  }

  private func showOther(_ event: RunEvent) {
    switch event.event {
    case .begin:
      if let step = event.step, step > 0 { console.note("going on after step \(step)") }
      if let message = event.message { console.warn(message.components(separatedBy: "\n")) }
    case .epoch: console.print(Self.epochText(event))
    case .warning: console.warn([event.message ?? ""])
    case .file: console.print("wrote \(event.file ?? "")")
    case .end:
      console.clearProgress()
      if let batch = lastBatch, event.outcome != .failed {
        console.print("step \(batch.step ?? 0): loss \((batch.loss ?? .nan).short)")
      }
      if event.outcome == .stoppedEarly {
        console.print("ended after epoch \(event.epoch ?? 0), as the loss got no better")
      }
    case .batch, .checkpoint: break
    }
  }

  private static func text(_ event: RunEvent) -> String {
    let epochs = event.epochs.map { "/\($0)" } ?? ""
    var parts = ["epoch \(event.epoch ?? 0)\(epochs)", "loss \((event.loss ?? .nan).short)"]
    if let seconds = event.secondsLeft, seconds.isFinite, seconds < 1e9 {
      parts.append("\(clock(seconds)) left")
    }
    if let rate = event.learningRate { parts.append("rate \(rate.short)") }
    if let pace = event.examplesPerSecond {
      let isMany = pace >= 1000 && pace < 1e9
      parts.append("\(isMany ? "\(Int(pace))" : pace.short) examples/s")
    }
    return parts.joined(separator: ", ")
  }

  private static func epochText(_ event: RunEvent) -> String {
    var text = "epoch \(event.epoch ?? 0): loss \((event.loss ?? .nan).short)"
    if let scores = event.validation {
      text += ", validation loss \(scores.loss.short)"
      if let accuracy = scores.accuracy {
        text += String(format: ", accuracy %.1f %%", accuracy * 100)
      }
      if let error = scores.rootMeanSquaredError {
        text += ", root mean squared error \(error.short)"
      }
    }
    return text
  }

  /// 1:05 or 2:03:05.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, seconds).rounded(.up))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    return hours > 0
      ? String(format: "%d:%02d:%02d", hours, minutes, whole % 60)
      : String(format: "%d:%02d", minutes, whole % 60)
  }
}
