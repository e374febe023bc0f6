import Foundation
import GraftFormats
import GraftTestSupport
import Testing

@testable import Graft
@testable import GraftCommands

/// What voice training says of recordings and trunks that do not serve, on a tiny trunk.
struct VoiceTrainerTests {
  /// [1, size] -> four values -> three classes.
  private func trunk(size: Int = 16_000, batch: FeatureDimension = .named("N")) throws -> Model {
    var generator = SeededGenerator(seed: 3)
    func matrix(_ rows: Int, _ columns: Int) throws -> Tensor {
      try Tensor(
        (0..<rows * columns).map { _ in Float(generator.normal()) }, shape: [rows, columns])
    }
    return Model(
      graph: Graph(
        inputs: [
          Feature(name: "audio", type: .tensor(.float32, shape: [batch, .fixed(size)]))
        ],
        outputs: [Feature(name: "y", type: .tensor(.float32, shape: [batch, .fixed(3)]))],
        nodes: [
          // There from opset 11 on.
          Node("Round", inputs: ["audio"], outputs: ["r"]),
          Node("MatMul", inputs: ["r", "body"], outputs: ["h"]),
          Node("Tanh", inputs: ["h"], outputs: ["t"]),
          Node("Gemm", name: "head", inputs: ["t", "head.weight", "head.bias"], outputs: ["y"]),
        ],
        initializers: OrderedTable([
          ("body", try matrix(size, 4)), ("head.weight", try matrix(4, 3)),
          ("head.bias", try Tensor(zeros: [3])),
        ])))
  }

  /// Noise of some seconds, another for each seed.
  private func recording(_ seed: UInt64, seconds: Int = 1, _ name: String? = nil) -> Recording {
    var generator = SeededGenerator(seed: seed)
    return Recording(
      samples: (0..<seconds * 16_000).map { _ in Float(generator.uniform() * 2 - 1) },
      sampleRate: 16_000, name: name ?? "\(seed).wav")
  }

  private func trainer(
    me: [Recording], others: [[Recording]]? = nil, trunk: Model? = nil
  ) throws -> VoiceTrainer {
    var options = VoiceTrainer.Options()
    options.trunk = try trunk ?? self.trunk()
    options.epochs = 1
    let others = others ?? (100..<103).map { [recording($0)] }
    return try VoiceTrainer(
      people: [.init(name: "me", recordings: me)],
      others: others.enumerated().map { .init(name: "other \($0)", recordings: $1) },
      options: options)
  }

  @Test func `a copy of a recording is counted once`() async throws {
    let copies = (0..<5).map { recording(1, "me/\($0).wav") }
    let trainer = try trainer(me: copies)
    #expect(trainer.people[0].recordings.count == 1)
    let warnings = try await trainer.train().warnings
    #expect(
      warnings.contains("me/4.wav holds the same sound as me/0.wav and is not counted again"),
      "\(warnings)")
  }

  @Test func `one recording of two speakers is an error naming both files`() {
    #expect {
      try trainer(
        me: [recording(1, "me/a.wav")], others: [[recording(2)], [recording(1, "others/b.wav")]])
    } throws: {
      "\($0)".contains(
        "me/a.wav and others/b.wav hold the same sound, once for 'me' and once for 'other 1'")
    }
  }

  @Test func `error rates from pieces of one recording are called doubtful`() async throws {
    let one = try await trainer(me: [recording(1, seconds: 20)]).train()
    #expect(one.heldOut != nil)
    #expect(
      one.warnings.contains { $0.hasPrefix("the error rates say little: there is one recording") },
      "\(one.warnings)")
    let two = try await trainer(me: [recording(1), recording(2)]).train()
    #expect(!two.warnings.contains { $0.hasPrefix("the error rates say little") })
  }

  @Test func `pieces of a recording are left out of training together`() throws {
    let voice = try VoiceModel(people: ["me"], trunk: try trunk(), trainable: [], seed: 0)
    let examples = try VoiceExamples(
      people: [.init(name: "me", recordings: (0..<3).map { recording($0, seconds: 20) })],
      others: (5..<8).map { .init(name: "\($0)", recordings: [recording($0)]) },
      split: try VoiceSplit(voice), threads: 1
    ) { _, _ in }
    let rounds = examples.rounds()
    #expect(rounds.count == 3)
    for round in rounds {
      func recordings(_ rows: [Int]) -> Set<Int> {
        Set(rows.map { examples.rows[$0] }.filter { $0.speaker == 0 }.map(\.recording))
      }
      #expect(recordings(round.training).count == 2)
      #expect(recordings(round.training).isDisjoint(with: recordings(round.heldOut)))
    }
  }

  @Test func `a trunk that takes no sound is refused`() async throws {
    for trunk in [try trunk(size: 4), try trunk(batch: .fixed(8))] {
      let trainer = try trainer(me: [recording(1), recording(2)], trunk: trunk)
      await #expect {
        _ = try await trainer.train()
      } throws: {
        "\($0)".contains("a voice model takes raw audio, float32 [batch, samples], and the input")
      }
    }
  }

  @Test func `an opset that lacks an operator is found before training`() throws {
    let trainer = try trainer(me: [recording(1)])
    try trainer.check(opset: 11)
    #expect {
      try trainer.check(opset: 7)
    } throws: {
      ($0 as? GraftError)?.code == .unsupported && "\($0)".contains("Round")
    }
  }

  @Test func `two people of one name are wrong usage`() {
    #expect {
      try VoiceTrainer(
        people: [1, 2].map { .init(name: "me", recordings: [recording($0)]) }, others: [])
    } throws: {
      ($0 as? GraftError)?.code == .invalidArgument
    }
  }

  @Test func `identify explains every file that fails`() async throws {
    let folder = try TemporaryFolder()
    let model = folder.url.appending(path: "voice.onnx")
    try await trainer(me: [recording(1), recording(2)]).train().model.write(to: model)
    let console = Recorder()
    let code = await CommandLineTool.run(
      ["voice", "identify", "--model", model.path, folder.url.path, "/nowhere/a.wav"],
      console.console)
    #expect(code == 65)
    #expect(console.diagnostics.contains("this is a folder, not a recording"))
    #expect(console.diagnostics.contains("/nowhere/a.wav: there is no such file"))
    #expect(console.diagnostics.split(separator: "\n").count == 2, "\(console.diagnostics)")
  }
}
