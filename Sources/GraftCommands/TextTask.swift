import Foundation
import Graft

/// `graft classify` with a model of text: each line of text files is one text.
struct TextTask {
  private let arguments: PictureTaskArguments
  private let console: Console
  private let classifier: TextClassifier
  private let files: [String]

  init(
    _ classifier: TextClassifier, _ arguments: PictureTaskArguments, _ files: [String],
    _ console: Console
  ) {
    self.classifier = classifier
    self.arguments = arguments
    self.files = files
    self.console = console
  }

  func run() throws {
    let report = try TaskReport(
      console, columns: ["label", "class", "score"], printsJSON: arguments.printsJSON,
      table: arguments.table, inputs: [arguments.model] + files)
    let interrupt = Interrupt {}
    var firstError: GraftError?
    for file in files where !interrupt.isRequested {
      do {
        for (number, line) in try Self.lines(of: file).enumerated() where !interrupt.isRequested {
          try classify(line, from: "\(file):\(number + 1)", report)
        }
      } catch let error as GraftError where error.code != .cancelled {
        firstError = firstError ?? error
        console.note("graft: \(error)")
        try report.add(TaskRecord(source: file, error: error.description), nil)
      }
    }
    report.finish()
    if let firstError { throw ReportedFailure(code: firstError.code) }
  }

  private static func lines(of path: String) throws -> [String] {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw GraftError(
        FileManager.default.fileExists(atPath: path) ? .inputOutput : .notFound,
        "the file cannot be read: \(error.reason)", at: [path], fix: "Name a file of text")
    }
    guard let text = String(data: data, encoding: .utf8) else {
      throw GraftError(
        .badData, "the file holds no text in UTF-8", at: [path], fix: "Name a file of text")
    }
    let lines = text.split(whereSeparator: \.isNewline).map(String.init)
    guard !lines.isEmpty else {
      throw GraftError(.badData, "the file is empty", at: [path], fix: "Write a text on each line")
    }
    return lines
  }

  private func classify(_ text: String, from source: String, _ report: TaskReport) throws {
    let start = ContinuousClock.now
    let found = try classifier.classify(text)
    var record = TaskRecord(source: source)
    record.inferenceMilliseconds = (.now - start) / .milliseconds(1)
    record.results = TaskResults(classes: found.map(TaskResults.Class.init))
    let names = found.map { "\($0.name) \(String(format: "%.3f", $0.score))" }
    try report.add(
      record,
      TaskAnswer(
        results: TaskResults(),
        rows: found.map { [$0.label ?? "", "\($0.index)", $0.score.cell] },
        text: names.isEmpty ? "nothing" : names.joined(separator: ", ")
      ) { _ in })
  }
}
