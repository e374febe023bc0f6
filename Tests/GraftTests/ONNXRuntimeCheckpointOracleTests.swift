import Foundation
import Graft
import GraftFormats
import GraftMedia
import GraftTestSupport
import Testing

/// ONNX Runtime's training build, which Benchmarks/run installs.
private let python = SharedData.cache.appending(
  path: "benchmarks/onnxruntime-training/bin/python")

@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: python.path),
    "needs the Python environment for training in ONNX Runtime that 'Benchmarks/run' makes"))
struct ONNXRuntimeCheckpointOracleTests {
  /// What scripts/oracle/resume_checkpoint.py gives.
  private func resume(
    _ folder: ArtifactFolder, _ checkpoint: URL, steps: Range<Int>
  ) throws -> SafetensorsFile {
    let temporary = try TemporaryFolder()
    let output = temporary.url.appending(path: "output.safetensors").path
    let script = SharedData.project.appending(path: "scripts/oracle/resume_checkpoint.py").path
    let ending = try ChildProcess(
      python.path,
      [
        "-B", script, folder.url.path, checkpoint.path,
        folder.url.appending(path: "expected.safetensors").path, output,
        "--rate", "\(folder.learningRate)", "--first", "\(steps.lowerBound)",
        "--last", "\(steps.upperBound - 1)",
      ]
    ).run()
    try #require(ending.status == 0, "\(ending.messages)")
    return try SafetensorsFile(path: output)
  }

  @Test(arguments: ArtifactFolder.names)
  func `ONNX Runtime goes on where our session ends`(name: String) async throws {
    let folder = try ArtifactFolder(name)
    let session = try folder.artifacts().session(learningRate: folder.learningRate)
    session.properties = ["epoch": .integer(1), "loss": .number(0.5), "note": .text("größer")]
    _ = try await folder.train(session, steps: 1...5)
    let temporary = try TemporaryFolder()
    let checkpoint = temporary.url.appending(path: "checkpoint")
    try session.writeONNXRuntimeCheckpoint(to: checkpoint)

    let loaded = try resume(folder, checkpoint, steps: 6..<6)
    for (parameter, value) in session.model.parameters {
      #expect(loaded.tensors["param.\(parameter)"]?.data == value.data, "\(parameter)")
    }
    #expect(loaded.metadata == ["epoch": "1", "loss": "0.5", "note": "'größer'"])

    let result = try resume(folder, checkpoint, steps: 6..<11)
    try folder.compare(try #require(result.tensors["losses"]).values(), 6...10)
    for (key, expected) in folder.tensors where key.hasPrefix("param10.") {
      expectClose(
        result.tensors["param." + key.dropFirst(8)], expected, try folder.tolerance("param"),
        "\(name), \(key)")
    }
  }

  @Test func `ONNX Runtime reads tensors in a second file`() throws {
    let folder = try ArtifactFolder("cnn_bn_classifier")
    let temporary = try TemporaryFolder()
    let path = temporary.url.appending(path: "checkpoint")
    let checkpoint = try ORTCheckpoint(path: folder.url.appending(path: "checkpoint_step5").path)
    try checkpoint.write(to: path.path, largestFile: 0)
    #expect(FileManager.default.fileExists(atPath: path.path + ".data"))
    let result = try resume(folder, path, steps: 6..<11)
    try folder.compare(try #require(result.tensors["losses"]).values(), 6...10)
  }

  @Test func `ONNX Runtime begins with a checkpoint of a session that has not trained`() throws {
    let folder = try ArtifactFolder("mlp_classifier")
    let session = try folder.artifacts().session()
    let temporary = try TemporaryFolder()
    for includesState in [true, false] {
      let path = temporary.url.appending(path: "checkpoint")
      try session.writeONNXRuntimeCheckpoint(to: path, includesOptimizerState: includesState)
      let result = try resume(folder, path, steps: 1..<11)
      try folder.compare(try #require(result.tensors["losses"]).values(), 1...10)
    }
  }
}
