import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

/// Checkpoints that PyTorch wrote; `Tests/Checkpoints/make.py` makes them.
struct PyTorchCheckpointTests {
  private static let folder = SharedData.project.appending(path: "Tests/Checkpoints").path
  private static let voiceEncoder = SharedData.cache
    .appending(path: "models/voice-encoder/pretrained.pt").path
  private static let hasVoiceEncoder = FileManager.default.fileExists(atPath: voiceEncoder)
  private static let voiceEncoderReason: Comment =
    "needs the voice encoder: graft models pull voice-encoder"

  @Test(
    arguments: ["types", "training"], ["zip1", "zip2", "zip4", "legacy1", "legacy2", "legacy4"])
  func `tensors are those that PyTorch reads`(name: String, kind: String) throws {
    let tensors = try PyTorchCheckpoint.read(path: "\(Self.folder)/\(name).\(kind).pt")
    let expected = try SafetensorsFile(path: "\(Self.folder)/\(name).safetensors").tensors
    #expect(Set(tensors.keys) == Set(expected.keys))
    for (name, tensor) in expected {
      #expect(tensors[name]?.elementType == tensor.elementType, "\(name)")
      #expect(tensors[name]?.shape == tensor.shape, "\(name)")
      #expect(tensors[name]?.data == tensor.data, "\(name)")
    }
  }

  @Test func `tensors of a checkpoint in the ZIP format lie in the file`() throws {
    let tensors = try PyTorchCheckpoint.read(path: "\(Self.folder)/types.zip2.pt")
    let shared = try ["shared.1", "shared.2"].map { try #require(tensors[$0]).bytes }
    #expect(shared[1] - shared[0] == 7 * MemoryLayout<Float>.size)
  }

  @Test(.enabled(if: hasVoiceEncoder, voiceEncoderReason))
  func `the voice encoder's checkpoint is read`() throws {
    let tensors = try PyTorchCheckpoint.read(path: Self.voiceEncoder)
    #expect(tensors.count == 48)
    #expect(
      tensors.keys.prefix(2) == ["model_state.similarity_weight", "model_state.similarity_bias"])
    for layer in 0..<3 {
      let input = try #require(tensors["model_state.lstm.weight_ih_l\(layer)"])
      #expect(input.shape == [1024, layer == 0 ? 40 : 256])
      #expect(tensors["model_state.lstm.weight_hh_l\(layer)"]?.shape == [1024, 256])
    }
    let bias = try #require(tensors["model_state.linear.bias"]).values(as: Float.self)
    #expect(Array(bias.prefix(3)) == [-0.070617735, -0.08119177, -0.066867895])
    let weight = try #require(tensors["model_state.lstm.weight_hh_l2"]).values(as: Float.self)
    #expect(abs(weight.reduce(0) { $0 + Double($1) } - 86.458_373_924_9) < 1e-6)
  }

  @Test(arguments: ["types.zip2.pt", "training.zip4.pt", "types.legacy2.pt", "training.legacy4.pt"])
  func `damaged copies of small checkpoints never trap`(name: String) throws {
    try read("\(Self.folder)/\(name)", count: SharedData.isLong ? 4000 : 400, regions: [0..<4000])
  }

  @Test(.enabled(if: hasVoiceEncoder, voiceEncoderReason))
  func `damaged copies of the voice encoder never trap`() throws {
    try read(
      Self.voiceEncoder, count: SharedData.isLong ? 1000 : 100, regions: [0..<300, 0..<6600])
  }

  private func read(_ path: String, count: Int, regions: [Range<Int>]) throws {
    let folder = try TemporaryFolder()
    let file = try DamagedFile(path, copy: folder.url.appending(path: "copy"), regions: regions)
    try file.expectErrorsOnly(count: count, seed: 3) { path in
      for (_, tensor) in try PyTorchCheckpoint.read(path: path) { tensor.touch() }
    }
  }
}
