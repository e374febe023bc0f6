import Foundation
import Graft
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

private let hasFFmpeg = (try? ChildProcess("ffmpeg", ["-version"]).run().status == 0) ?? false

/// Folders of recordings, from files to answers.
@Suite(.enabled(if: hasFFmpeg, "needs ffmpeg: apt-get install ffmpeg"))
struct RecordingCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try writeTones(count: 12, seed: 1, to: "sounds")
    try writeTones(count: 6, seed: 2, to: "others")
  }

  private func path(_ name: String) -> String { folder.url.appending(path: name).path }

  /// Noisy tones of 50 to 150 ms in the folders 'high' and 'low'.
  private func writeTones(count: Int, seed: UInt64, to name: String) throws {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<count {
      let label = number.isMultiple(of: 2) ? "high" : "low"
      let place = folder.url.appending(path: name).appending(path: label)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      let frequency = (number.isMultiple(of: 2) ? 2500 : 300) * (1 + 0.2 * generator.uniform())
      let samples = (0..<Int(800 + 1600 * generator.uniform())).map { index in
        Float(
          0.5 * sin(2 * Double.pi * frequency * Double(index) / 16_000) + 0.05 * generator.normal())
      }
      try Recording(samples: samples, sampleRate: 16_000, name: "tone")
        .write(to: place.appending(path: "\(number).wav"))
    }
  }

  /// One convolution, the mean over time of what it finds, and a layer for two classes.
  private func writeModel(_ shape: [FeatureDimension]) throws {
    var generator = SeededGenerator(seed: 3)
    func random(_ shape: Shape, _ scale: Double) throws -> Tensor {
      try Tensor(
        (0..<shape.elementCount).map { _ in Float(generator.normal() * scale) }, shape: shape)
    }
    var builder = GraphBuilder()
    var value = builder.input(Feature(name: "sound", type: .tensor(.float32, shape: shape)))
    if shape.count == 2 {
      value = builder.add("Unsqueeze", [value, try builder.ints([1])])
    } else if shape.last == .fixed(1) {
      value = builder.add("Transpose", [value], ["perm": .ints([0, 2, 1])])
    }
    let filters = builder.initializer(try random([6, 1, 24], 0.3), named: "filters.weight")
    let found = builder.add("Conv", [value, filters], ["strides": .ints([8])], named: "found")
    let mean = builder.add("GlobalAveragePool", [builder.add("Relu", [found])])
    let pooled = builder.add("Flatten", [mean], named: "pooled")
    let weight = builder.initializer(try random([6, 2], 0.3), named: "head.weight")
    builder.output(
      builder.add("MatMul", [pooled, weight], named: "scores"),
      .tensor(.float32, shape: [.named("N"), .fixed(2)]))
    try Model(graph: builder.graph).write(to: URL(fileURLWithPath: path("model.onnx")))
  }

  private func run(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(words, recorder.console) == code, "\(recorder.diagnostics)")
    return recorder
  }

  /// Measures and asks a model.
  private func expectRight(_ model: String) async throws {
    let report = await run(["evaluate", model, "--data", path("others"), "--json"]).output
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any])
    #expect(object["accuracy"] as? Double == 1, "\(report)")
    let answers = await run([
      "predict", model, path("others/high/0.wav"), path("others/low/1.wav"), "--top", "1",
    ]).output.split(separator: "\n")
    #expect(answers.map { $0.contains("0.wav: high ") } == [true, false], "\(answers)")
    #expect(answers.map { $0.contains("1.wav: low ") } == [false, true])
  }

  private static let batch = FeatureDimension.named("N")

  @Test(
    arguments: [
      (
        [batch, .named("samples")], ["--seconds", "0.1", "--augment", "sounds", "--variants", "2"]
      ),
      ([batch, .fixed(1), .fixed(1600)], []),
      ([batch, .fixed(1600), .fixed(1)], ["--balance", "--sample-rate", "16000"]),
    ] as [([FeatureDimension], [String])])
  func `a network learns from folders of recordings`(
    shape: [FeatureDimension], words: [String]
  ) async throws {
    try writeModel(shape)
    _ = await run(
      [
        "train", path("model.onnx"), "--data", path("sounds"), "--validation", path("others"),
        "--trainable", "head.*", "--optimizer", "adam", "--learning-rate", "0.1", "--epochs", "60",
        "--batch-size", "4", "--run", path("run"), "--export", path("mine.onnx"),
      ] + words)
    try await expectRight(path("run"))
    // The exported file says by itself how recordings become its input.
    try await expectRight(path("mine.onnx"))
    let exported = try Model(contentsOf: URL(fileURLWithPath: path("mine.onnx")))
    #expect(exported.labels == ["high", "low"])
    #expect(abs((exported.recordingPreprocessing?.seconds ?? 0) - 0.1) < 1e-6)
  }

  @Test func `a classifier on features learns from folders of recordings`() async throws {
    try writeModel([Self.batch, .fixed(1600)])
    _ = await run([
      "train", path("model.onnx"), "--data", path("sounds"), "--head", "auto", "--features",
      "pooled", "--run", path("run"),
    ])
    try await expectRight(path("run"))
  }

  @Test func `a file that is no recording is named`() async throws {
    try writeModel([Self.batch, .fixed(1600)])
    try Data("no sound".utf8).write(to: folder.url.appending(path: "sounds/low/broken.wav"))
    let console = await run(
      [
        "train", path("model.onnx"), "--data", path("sounds"), "--trainable", ".*", "--run",
        path("run"),
      ], code: 65)
    #expect(console.diagnostics.contains("low/broken.wav: "), "\(console.diagnostics)")
    #expect(console.diagnostics.contains("cannot be decoded"), "\(console.diagnostics)")
  }
}
