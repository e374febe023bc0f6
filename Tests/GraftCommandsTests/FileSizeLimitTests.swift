import Foundation
import Graft
import GraftLearning
import GraftTestSupport
import Testing

private let hasLimiter = (try? ChildProcess("prlimit", ["--version"]).run().status == 0) ?? false

/// A run whose files may not grow any more for a while, as on a disk that is full.
@Suite(.enabled(if: hasLimiter, "needs prlimit: apt-get install util-linux"))
struct FileSizeLimitTests {
  private let training: SmallTraining
  private let folder: RunFolder

  init() throws {
    try #require(RunningProgram.isBuilt, "the program is not built: \(RunningProgram.url.path)")
    training = try SmallTraining(examples: 26)
    folder = RunFolder(URL(fileURLWithPath: training.path("run")))
  }

  private func words(_ run: String, _ more: [String]) -> [String] {
    [
      "train", training.model, "--data", training.data, "--trainable", ".*", "--optimizer",
      "adam", "--batch-size", "4", "--run", training.path(run), "--checkpoint-every", "20",
      "--parameters-out", training.path(run + ".safetensors"),
    ] + more
  }

  private func limitFiles(of program: RunningProgram, to size: String) throws {
    let limit = ChildProcess(
      "prlimit", ["--pid", "\(program.identifier)", "--fsize=\(size):unlimited"])
    try #require(try limit.run().status == 0)
  }

  private func checkpoints() -> [String: Data] {
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.checkpoints.path)) ?? []
    return Dictionary(
      uniqueKeysWithValues: names.compactMap { name in
        (try? Data(contentsOf: folder.checkpoints.appending(path: name))).map { (name, $0) }
      })
  }

  @Test func `training goes on, the user is told, and nothing old is lost`() async throws {
    let program = try RunningProgram(words("run", ["--epochs", "10000000"]))
    try await wait { checkpoints().count >= 3 }
    try limitFiles(of: program, to: "256")
    try await wait { program.messages.contains("File too large") }
    // What was being written when the limit came has failed by now.
    try await Task.sleep(for: .milliseconds(200))
    let kept = checkpoints()
    #expect(kept.count >= 3)
    let step = try #require(try TrainingCheckpoint.newest(in: folder.checkpoints)).step
    try await Task.sleep(for: .milliseconds(200))
    #expect(checkpoints() == kept)
    #expect(program.isRunning)

    try limitFiles(of: program, to: "unlimited")
    try await wait { try TrainingCheckpoint.newest(in: folder.checkpoints)?.step ?? 0 > step }
    program.send(SIGINT)
    let status = try await program.end()
    let messages = program.messages
    #expect(status == 1, "\(messages)")
    #expect(messages.contains("raining goes on"), "\(messages)")
    let match = try #require(messages.firstMatch(of: /interrupted after step (\d+)/))
    let steps = try #require(Int(match.1))
    #expect(steps > step)

    let whole = try RunningProgram(words("whole", ["--steps", "\(steps)"]))
    #expect(try await whole.end() == 0, "\(whole.messages)")
    let results = try ["run", "whole"].map {
      try Data(contentsOf: URL(fileURLWithPath: training.path($0 + ".safetensors")))
    }
    #expect(results[0] == results[1])
    let history = try RunHistory(contentsOf: folder)
    #expect(history.outcome == .interrupted)
  }
}
