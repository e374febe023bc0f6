import Foundation
import Graft

/// `graft classify` with a model of sound: what is heard in recordings.
struct SoundTask {
  private let arguments: PictureTaskArguments
  private let console: Console
  private let classifier: AudioClassifier
  private let recordings: [String]

  static let endings: Set<String> = [
    "wav", "flac", "mp3", "m4a", "aac", "ogg", "opus", "aiff", "aif", "wma", "g722", "spx",
  ]

  init(
    _ classifier: AudioClassifier, _ arguments: PictureTaskArguments, _ words: [String],
    _ console: Console
  ) throws {
    self.classifier = classifier
    self.arguments = arguments
    self.console = console
    recordings = try words.flatMap { word -> [String] in
      guard DataArguments.isFolder(word) else { return [word] }
      let names = try FileManager.default.subpathsOfDirectory(atPath: word).filter {
        Self.endings.contains(URL(fileURLWithPath: $0).pathExtension.lowercased())
      }
      guard !names.isEmpty else {
        throw GraftError(
          .badData, "there are no recordings in the folder", at: [word], fix: "Name another folder")
      }
      return names.sorted().map { URL(fileURLWithPath: word).appending(path: $0).path }
    }
  }

  func run() throws {
    let report = try TaskReport(
      console, columns: ["label", "class", "score"], printsJSON: arguments.printsJSON,
      table: arguments.table, inputs: [arguments.model] + recordings)
    let interrupt = Interrupt {}
    var firstError: GraftError?
    for recording in recordings where !interrupt.isRequested {
      do {
        try classify(recording, report)
      } catch let error as GraftError where error.code != .cancelled {
        firstError = firstError ?? error
        console.note("graft: \(error)")
        try report.add(TaskRecord(source: recording, error: error.description), nil)
      }
    }
    report.finish()
    if let firstError { throw ReportedFailure(code: firstError.code) }
  }

  private func classify(_ path: String, _ report: TaskReport) throws {
    let start = ContinuousClock.now
    let found = try classifier.classify(contentsOf: URL(fileURLWithPath: path))
    var record = TaskRecord(source: path)
    record.inferenceMilliseconds = (.now - start) / .milliseconds(1)
    let windows = found.windows.map { window in
      TaskResults.Window(
        time: window.start / .seconds(1), classes: window.categories.map(TaskResults.Class.init))
    }
    record.results = TaskResults(
      classes: found.categories.map(TaskResults.Class.init), windows: windows)
    let text = found.categories.map { "\($0.name) \(String(format: "%.3f", $0.score))" }
    let answer = TaskAnswer(
      results: TaskResults(),
      rows: found.categories.map { [$0.label ?? "", "\($0.index)", $0.score.cell] },
      text: (text.isEmpty ? "nothing" : text.joined(separator: ", "))
        + " (mean of \(windows.count) \(windows.count == 1 ? "window" : "windows"))"
    ) { _ in }
    try report.add(record, answer)
  }
}
