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
  /// Runs a script in scripts/oracle.
  private func run(_ script: String, _ arguments: [String]) throws {
    let path = SharedData.project.appending(path: "scripts/oracle/\(script)").path
    let ending = try ChildProcess(python.path, ["-B", path] + arguments).run()
    try #require(ending.status == 0, "\(ending.messages)")
  }

  /// What scripts/oracle/resume_checkpoint.py gives.
  private func resume(
    _ folder: ArtifactFolder, _ checkpoint: URL, steps: Range<Int>, artifacts: URL? = nil,
    _ options: String...
  ) throws -> SafetensorsFile {
    let temporary = try TemporaryFolder()
    let output = temporary.url.appending(path: "output.safetensors").path
    try run(
      "resume_checkpoint.py",
      [
        (artifacts ?? folder.url).path, checkpoint.path,
        folder.url.appending(path: "expected.safetensors").path, output,
        "--rate", "\(folder.learningRate)", "--first", "\(steps.lowerBound)",
        "--last", "\(steps.upperBound - 1)",
      ] + options)
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

  @Test func `AdamW in PyTorch's form is found in the optimizer's model`() async throws {
    let folder = try ArtifactFolder("mlp_classifier")
    let copy = try folder.copy()
    let checkpoint = copy.url.appending(path: "checkpoint")
    let result = try resume(
      folder, checkpoint, steps: 1..<11, artifacts: copy.url, "--pytorch-form")
    let session = try ONNXRuntimeArtifacts(folder: copy.url).session(
      learningRate: folder.learningRate)
    let losses = try await folder.train(session, steps: 1...10)
    let tolerance = try folder.tolerance("loss")
    expectClose(try Tensor(losses), result.tensors["losses"], tolerance, "losses")
    for (name, value) in session.changedParameters {
      expectClose(
        value, result.tensors["param.\(name)"], try folder.tolerance("param"), "\(name)")
    }
    // The decay shows: the other form's values are different.
    #expect(
      difference(try Tensor(losses), try #require(folder.tensors["losses"]), tolerance) != nil)
  }

  @Test(arguments: ["BCEWithLogitsLoss", "L1Loss"])
  func `other losses and a limited norm are ONNX Runtime's`(loss: String) async throws {
    let folder = try ArtifactFolder("mlp_regressor")
    let made = try TemporaryFolder()
    try run(
      "make_artifacts.py",
      [
        SharedData.path("onnx/models/mlp_regressor.onnx"), made.url.path, "--loss", loss,
        "--clip", "0.05", "--train", "out.weight", "out.bias", "hidden2.weight",
      ])
    let checkpoint = made.url.appending(path: "checkpoint")
    let result = try resume(folder, checkpoint, steps: 1..<11, artifacts: made.url)
    let artifacts = try ONNXRuntimeArtifacts(folder: made.url)
    #expect(artifacts.options.clipNorm == 0.05)
    let session = try artifacts.session(learningRate: folder.learningRate)
    #expect(session.model.outputs.map(\.name) == ["prediction"])
    let losses = try await folder.train(session, steps: 1...10)
    expectClose(
      try Tensor(losses), result.tensors["losses"], try folder.tolerance("loss"), "losses")
    for (name, value) in session.changedParameters {
      expectClose(
        value, result.tensors["param.\(name)"],
        Tolerance(absolute: 5e-5, relative: 1e-4), "\(name)")
    }
  }
}
