import Foundation
import Graft
import GraftLearning

/// `graft runs list`: the runs in a folder and how they stand.
enum RunsListCommand: Command {
  static let specification = CommandSpecification(
    name: "runs list", summary: "List the runs in a folder and how they stand",
    positionals: "[FOLDER]", positionalCount: 0...1,
    options: [.flag("--json", "print JSON")], example: "graft runs list",
    notes: "FOLDER is 'runs' by default.")

  private struct Line: Encodable {
    let name: String
    let folder: String
    let state: String
    let created: String?
    let epochs: Int
    let steps: Int
    let loss: Double?
    let validationLoss: Double?
    let accuracy: Double?
    let head: RunEvent.Head?
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let parent =
      arguments.positionals.first.map { URL(fileURLWithPath: $0, isDirectory: true) }
      ?? RunFolder.parent
    let lines = RunFolder.all(in: parent).map(line)
    if arguments.has("--json") { return try console.print(json: lines) }
    guard !lines.isEmpty else { return console.note("there are no runs in \(parent.path)") }
    let width = (lines.map(\.name.count).max() ?? 0) + 2
    for line in lines {
      var text = line.name.padding(toLength: width, withPad: " ", startingAt: 0)
      text += line.state.padding(toLength: 15, withPad: " ", startingAt: 0)
      if let head = line.head {
        text += String(format: "%@: %.1f %% in cross validation", head.name, head.accuracy * 100)
      } else {
        text += "epochs \(line.epochs)"
      }
      if let loss = line.loss { text += ", loss \(loss.short)" }
      if let loss = line.validationLoss { text += ", validation loss \(loss.short)" }
      if let accuracy = line.accuracy {
        text += String(format: ", validation accuracy %.1f %%", accuracy * 100)
      }
      console.print(text)
    }
  }

  private static func line(_ folder: RunFolder) -> Line {
    let history = (try? RunHistory(contentsOf: folder)) ?? RunHistory()
    let last = history.epochs.last
    return Line(
      name: folder.name, folder: folder.path, state: state(folder, history),
      created: (try? RunConfiguration(contentsOf: folder))?.created.ISO8601Format(),
      epochs: history.epochs.count,
      steps: last?.step ?? 0, loss: last?.loss, validationLoss: last?.validationLoss,
      accuracy: last?.accuracy ?? history.runs.last?.validation?.accuracy,
      head: history.runs.last?.head)
  }

  private static func state(_ folder: RunFolder, _ history: RunHistory) -> String {
    if RunLock.holder(of: folder) != nil { return "running" }
    return history.outcome?.rawValue ?? "killed"
  }
}

/// `graft runs watch`: what another process's run is doing.
enum RunsWatchCommand: Command {
  static let specification = CommandSpecification(
    name: "runs watch", summary: "Watch a run that another process trains",
    positionals: "RUN", positionalCount: 1...1,
    options: [.flag("--json", "print the events as JSON, one on each line")],
    example: "graft runs watch digits",
    notes:
      "RUN is a name in 'runs' or a folder. Ends when the run ends: with 0 when it is done, with 1\n"
      + "when it was interrupted, failed or was killed. Watching changes nothing.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let folder = RunFolder(named: arguments.positionals[0])
    try folder.requireRun()
    let display = TrainingDisplay(console, printsJSON: arguments.has("--json"))
    let log = RunLogReader(folder)
    var last: RunEvent?
    var isFirst = true
    while true {
      // Asked first, so that nothing can be written between the last look at the log and the end.
      let isRunning = RunLock.holder(of: folder) != nil
      let events = log.newEvents()
      for event in isFirst ? latest(events) : events[...] {
        display.show(event)
        last = event
      }
      isFirst = false
      if !isRunning { break }
      try await Task.sleep(for: .milliseconds(100))
    }
    console.clearProgress()
    try report(last, folder, console)
  }

  /// The events since training was last started.
  private static func latest(_ events: [RunEvent]) -> ArraySlice<RunEvent> {
    events[(events.lastIndex { $0.event == .begin } ?? 0)...]
  }

  private static func report(_ last: RunEvent?, _ folder: RunFolder, _ console: Console) throws {
    guard folder.isRun else {
      console.note("the run failed before it had learned anything, and left nothing")
      throw ReportedFailure(code: .cancelled)
    }
    let advice = "go on with 'graft train --run \(folder.word) --resume'"
    switch last?.event == .end ? last?.outcome : nil {
    case .done, .stoppedEarly: return
    case .interrupted: console.note("the run was interrupted; \(advice)")
    case .failed: console.note("the run failed: \(last?.message ?? "")")
    case nil: console.note("the run was killed; \(advice)")
    }
    throw ReportedFailure(code: .cancelled)
  }
}

extension RunFolder {
  /// What '--run' takes for this folder.
  var word: String { RunFolder(named: name) == self ? name : path }
}
