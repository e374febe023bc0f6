import Foundation
import Graft
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// Runs of the real program that are killed at random moments, again and again, until they are done.
@Suite(.serialized)
struct KillTests {
  /// One of the ways to train.
  struct Kind: CustomTestStringConvertible, Sendable {
    let name: String
    let words: [String]
    let seed: UInt64
    /// Kills in a quick test; ten times as many in a long one.
    let kills: Int
    /// Whether it learns from picture files, not from tensors.
    var usesPictures = false

    var testDescription: String { name }
  }

  private static let kinds = [
    Kind(
      name: "a head on features",
      words: [
        "--trainable", "head.*", "--optimizer", "adam", "--learning-rate", "0.01", "--epochs",
        "60", "--batch-size", "4", "--checkpoint-every", "5", "--early-stopping", "50",
      ], seed: 11, kills: 4),
    Kind(
      name: "all layers, with batch normalization, momentum and dropout",
      words: [
        "--trainable", ".*", "--optimizer", "sgd", "--momentum", "0.9", "--nesterov",
        "--learning-rate", "0.01", "--epochs", "50", "--batch-size", "4", "--last-batch", "drop",
        "--checkpoint-every", "3", "--seed", "5",
      ], seed: 12, kills: 3),
    Kind(
      name: "augmentation, accumulation, groups and a schedule",
      words: [
        "--trainable", "hidden.*", "head.*", "--optimizer", "rmsprop", "--learning-rate", "0.003",
        "--schedule", "cosine", "--schedule-steps", "12", "--warmup-steps", "3", "--accumulate",
        "3", "--group", "head.*=0.5", "--clip-norm", "1", "--epochs", "5", "--batch-size", "2",
        "--augment", "flip,rotation=20,noise=0.05", "--picture-values", "signed", "--last-batch",
        "wrap", "--checkpoint-every", "1", "--seed", "9",
      ], seed: 13, kills: 3, usesPictures: true),
    // It has no checkpoints: its fit begins anew.
    Kind(
      name: "a classifier on features",
      words: ["--head", "mlp", "--features", "hidden", "--no-mirrors", "--seed", "3"], seed: 14,
      kills: 2),
  ]

  private let training: SmallTraining

  init() throws {
    try #require(RunningProgram.isBuilt, "the program is not built: \(RunningProgram.url.path)")
    training = try SmallTraining(examples: 26)
    try SmallTraining.writePictures(count: 7, seed: 3, to: pictures)
    try SmallTraining.writePictures(count: 2, seed: 4, to: validationPictures)
  }

  private var pictures: URL { training.folder.url.appending(path: "pictures") }
  private var validationPictures: URL { training.folder.url.appending(path: "others") }

  private func words(_ kind: Kind, _ run: String) -> [String] {
    [
      "train", training.model, "--data", kind.usesPictures ? pictures.path : training.data,
      "--validation", kind.usesPictures ? validationPictures.path : training.validation,
      "--run", training.path(run), "--resume", "--parameters-out",
      training.path(run + ".safetensors"),
    ] + kind.words
  }

  /// How a child ended: its exit status, or 128 + the number of the signal that ended it.
  private func run(_ words: [String], ending signal: Int32 = 0, after delay: Duration = .zero)
    async throws -> (status: Int32, messages: String)
  {
    let program = try RunningProgram(words)
    if signal != 0 {
      let start = ContinuousClock.now
      while program.isRunning, ContinuousClock.now - start < delay {
        try await Task.sleep(for: .milliseconds(1))
      }
      program.send(signal)
    }
    return (try await program.end(), program.messages)
  }

  private func result(_ run: String) throws -> (parameters: Data, model: Data, losses: [Double]) {
    let folder = RunFolder(URL(fileURLWithPath: training.path(run)))
    return (
      try Data(contentsOf: URL(fileURLWithPath: training.path(run + ".safetensors"))),
      try Data(contentsOf: folder.model),
      try RunHistory(contentsOf: folder).epochs.flatMap { [$0.loss, $0.validationLoss ?? .nan] }
    )
  }

  @Test(arguments: kinds)
  func `a run that is killed at any moment ends with the same bytes`(kind: Kind) async throws {
    func time(_ body: () async throws -> Void) async rethrows -> Double {
      let start = ContinuousClock.now
      try await body()
      return (ContinuousClock.now - start) / .seconds(1)
    }
    // The moments lie within the time that a run has taken; other tests beside it come and go.
    var duration = try await time {
      let whole = try await run(words(kind, "whole"))
      try #require(whole.status == 0, "\(whole.messages)")
    }
    let expected = try result("whole")

    var generator = SeededGenerator(seed: kind.seed)
    let wanted = SharedData.isLong ? kind.kills * 10 : kind.kills
    var kills = 0
    var name = 0
    while kills < wanted {
      name += 1
      let words = words(kind, "run\(name)")
      var isDone = false
      var total = 0.0
      while !isDone {
        let delay = generator.uniform() * duration
        total += try await time {
          let (status, messages) = try await run(
            words, ending: kills < wanted ? SIGKILL : 0, after: .seconds(delay))
          isDone = status != 128 + SIGKILL
          if isDone { try #require(status == 0, "after \(kills) kills: \(messages)") }
        }
        if !isDone { kills += 1 }
      }
      duration = min(duration, total)
      let actual = try result("run\(name)")
      #expect(actual.parameters == expected.parameters, "after \(kills) kills")
      #expect(actual.model == expected.model)
      #expect(actual.losses == expected.losses)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends after the step and says how to go on`(signal: Int32) async throws {
    let kind = Self.kinds[1]
    try #require(try await run(words(kind, "whole")).status == 0)
    let program = try RunningProgram(words(kind, "stopped"))
    let log = RunFolder(URL(fileURLWithPath: training.path("stopped"))).log
    try await wait {
      !program.isRunning || (try? String(contentsOf: log, encoding: .utf8))?.isEmpty == false
    }
    program.send(signal)
    let (status, messages) = (try await program.end(), program.messages)
    try #require(status == 1, "\(status): \(messages)")
    #expect(messages.contains("training was interrupted after step"), "\(messages)")
    #expect(messages.contains("--resume'"), "\(messages)")
    let folder = RunFolder(URL(fileURLWithPath: training.path("stopped")))
    #expect(try RunHistory(contentsOf: folder).outcome == .interrupted)
    #expect(FileManager.default.fileExists(atPath: folder.model.path))
    try #require(try await run(words(kind, "stopped")).status == 0)
    #expect(try result("stopped").parameters == result("whole").parameters)
  }
}
