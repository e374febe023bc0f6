import Foundation
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

/// Memory of many sessions in one process.
@Suite(
  .enabled(
    if: PeakMemory.isMeasured && SharedData.isPresent, "runs by itself, with shared data"),
  .serialized)
struct SessionMemoryTests {
  /// Trains on pictures of noise.
  private func train(
    _ model: Model, sides: Int, _ selection: ParameterSelection, epochs: Int, batch: Int,
    _ generator: inout SeededGenerator
  ) async throws {
    let input = try #require(model.inputs.first?.name)
    let shape: Shape = [8, 3, sides, sides]
    let pictures = try Tensor(
      (0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
    let set = try ExampleSet(
      inputs: [input: pictures], targets: try Tensor((0..<8).map { Int64($0 % 2) }))
    let session = try TrainingSession(
      model, trainable: selection, loss: .crossEntropy, optimizer: .adamW(learningRate: 1e-4))
    for try await _ in try session.fit([set], epochs: epochs, batchSize: batch) {}
  }

  @Test func `sessions after the third take no more memory`() async throws {
    let model = try ONNXReader.read(path: SharedData.path("onnx/models/resnet_mini.onnx"))
    var generator = SeededGenerator(seed: 1)
    try await PeakMemory.expectFlat(SharedData.isLong ? 200 : 20, "resnet_mini") {
      try await train(
        model, sides: 16, .matching(".*weight"), epochs: 2, batch: 4, &generator)
    }
  }

  private static let fullSize = SharedData.cache.appending(path: "full-size")

  @Test(
    .enabled(if: SharedData.isLong, "takes minutes"),
    arguments: ["mobilenet_v2", "squeezenet1_1", "resnet50"])
  func `sessions on full-size networks take no more memory`(name: String) async throws {
    let path = Self.fullSize.appending(path: "\(name).onnx").path
    try #require(FileManager.default.fileExists(atPath: path))
    var generator = SeededGenerator(seed: 1)
    try await PeakMemory.expectFlat(100, name) {
      try await train(
        try ONNXReader.read(path: path), sides: 224, .all, epochs: 1, batch: 8, &generator)
    }
  }

  @Test(.enabled(if: SharedData.isLong, "takes minutes"))
  func `sessions on the last layer of a speech network take no more memory`() async throws {
    let path = Self.fullSize.appending(path: "wav2vec2_base.onnx").path
    try #require(FileManager.default.fileExists(atPath: path))
    var generator = SeededGenerator(seed: 1)
    try await PeakMemory.expectFlat(100, "wav2vec2_base") {
      let sound = try Tensor(
        (0..<2 * 16_000).map { _ in Float(generator.normal()) }, shape: [2, 16_000])
      let session = try TrainingSession(
        try ONNXReader.read(path: path), trainable: .matching("classifier.*"),
        loss: .crossEntropy, optimizer: .adamW(learningRate: 1e-3))
      let set = try ExampleSet(
        inputs: ["input": sound], targets: try Tensor([0, 1] as [Int64]))
      for try await _ in try session.fit([set], epochs: 3, batchSize: 2) {}
    }
  }
}
