import Foundation
import Graft
import GraftLearning
import GraftTestSupport
import Testing

@testable import GraftCommands

/// Watching and listing runs that another process writes.
struct RunsCommandTests {
  private let temporary: TemporaryFolder
  private let folder: RunFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = RunFolder(temporary.url.appending(path: "slow"))
  }

  private func begin() throws -> RunRecorder {
    let recorder = try RunRecorder(folder) { _ in }
    try RunConfiguration(
      versions: .init(graft: "graft test"), model: .init(path: "m", fingerprint: ""), data: [],
      validation: [], options: [:], seed: 0
    ).write(to: folder)
    var event = RunEvent(.begin)
    event.epoch = 0
    try recorder.record(event)
    return recorder
  }

  private func epoch(_ number: Int) -> RunEvent {
    var event = RunEvent(.epoch)
    event.epoch = number
    event.loss = 1 / Double(number)
    event.step = number
    event.learningRate = 0.1
    return event
  }

  private func end(_ outcome: RunEvent.Outcome) -> RunEvent {
    var event = RunEvent(.end)
    event.outcome = outcome
    return event
  }

  @Test func `a watcher sees epochs as they come and ends with the run`() async throws {
    let console = Recorder()
    let path = folder.path
    var recorder: RunRecorder? = try begin()
    try recorder?.record(epoch(1))
    let watcher = Task { await CommandLineTool.run(["runs", "watch", path], console.console) }
    try await wait { console.output.contains("epoch 1: loss 1") }
    try recorder?.record(epoch(2))
    try await wait { console.output.contains("epoch 2: loss 0.5") }
    try recorder?.record(end(.done))
    recorder = nil
    #expect(await watcher.value == 0, "\(console.diagnostics)")
  }

  @Test func `a watcher tells that a run was killed or interrupted`() async throws {
    for outcome in [nil, RunEvent.Outcome.interrupted] {
      var recorder: RunRecorder? = try begin()
      try recorder?.record(epoch(1))
      if let outcome { try recorder?.record(end(outcome)) }
      recorder = nil
      let console = Recorder()
      #expect(await CommandLineTool.run(["runs", "watch", folder.path], console.console) == 1)
      let word = outcome == nil ? "killed" : "interrupted"
      #expect(console.diagnostics.contains("the run was \(word)"), "\(console.diagnostics)")
      #expect(console.diagnostics.contains("--resume"))
    }
  }

  @Test func `runs are listed with how they stand`() async throws {
    var recorder: RunRecorder? = try begin()
    try recorder?.record(epoch(1))
    let parent = temporary.url.path
    func list() async -> String {
      let console = Recorder()
      #expect(await CommandLineTool.run(["runs", "list", parent], console.console) == 0)
      return console.output
    }
    #expect(await list().hasPrefix("slow  running"))
    try recorder?.record(end(.done))
    recorder = nil
    #expect(await list().hasPrefix("slow  done           epochs 1, loss 1"))
  }

  @Test func `the run of a classifier is listed with what was chosen`() async throws {
    let recorder = try begin()
    var end = end(.done)
    end.head = RunEvent.Head(name: "k-NN on 'flat'", accuracy: 0.975)
    end.validation = RunScores(loss: 0.1, accuracy: 0.5)
    try recorder.record(end)
    let console = Recorder()
    let parent = temporary.url.path
    #expect(await CommandLineTool.run(["runs", "list", parent], console.console) == 0)
    #expect(
      console.output.contains(
        "k-NN on 'flat': 97.5 % in cross validation, validation accuracy 50.0 %"))
  }

  @Test func `a run that is not there is named with those that are`() async throws {
    _ = try begin()
    let console = Recorder()
    let path = temporary.url.appending(path: "slo").path
    #expect(await CommandLineTool.run(["runs", "watch", path], console.console) == 65)
    #expect(console.diagnostics.contains("Did you mean 'slow'?"), "\(console.diagnostics)")
  }
}
