import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ONNXRuntimeArtifactsTests {
  @Test(arguments: ArtifactFolder.names)
  func `ten steps from the first checkpoint are ONNX Runtime's`(name: String) async throws {
    let folder = try ArtifactFolder(name)
    let session = try folder.artifacts().session(learningRate: folder.learningRate)
    let trainable = try #require(folder.manifest["trainable"] as? [String])
    #expect(Set(session.trainable) == Set(trainable))
    try folder.compare(try await folder.train(session, steps: 1...5), 1...5)
    try folder.compare(session, "param5.")
    try compareMoments(session, folder)
    try folder.compare(try await folder.train(session, steps: 6...10), 6...10)
    try folder.compare(session, "param10.")
    #expect(session.updateCount == 10)
  }

  /// The moments after five steps are sums of the gradients, so that these are compared as well.
  private func compareMoments(_ session: TrainingSession, _ folder: ArtifactFolder) throws {
    let checkpoint = try session.onnxRuntimeCheckpoint(includesOptimizerState: true)
    let group = try #require(checkpoint.groups.first)
    #expect(group.step == 5)
    for (key, expected) in folder.tensors where key.hasPrefix("momentum") {
      let (kind, parameter) = (String(key.prefix(9)), String(key.dropFirst(10)))
      let largest = expected.doubles?.map(abs).max() ?? 0
      expectClose(
        group.moments[parameter]?[kind], expected,
        Tolerance(absolute: 1e-5 * largest + 1e-12, relative: 1e-4), "\(folder.name), \(key)")
    }
  }

  @Test(arguments: ArtifactFolder.names)
  func `training goes on from the saved state of the optimizer`(name: String) async throws {
    let folder = try ArtifactFolder(name)
    let session = try folder.artifacts().session(
      checkpoint: "checkpoint_step5", learningRate: folder.learningRate)
    #expect(session.updateCount == 5)
    #expect(session.properties["epoch"] == .integer(1))
    #expect(session.properties["note"] == .text("after step 5"))
    try folder.compare(try await folder.train(session, steps: 6...10), 6...10)
    try folder.compare(session, "param10.")
  }

  @Test(arguments: ArtifactFolder.names)
  func `evaluation and export give ONNX Runtime's loss and outputs`(name: String) throws {
    let folder = try ArtifactFolder(name)
    let session = try folder.artifacts().session(checkpoint: "checkpoint_step10")
    let loss = try session.evaluate([folder.data[0]], batchSize: folder.data[0].count).loss
    let expected = try #require(
      folder.manifest["eval_loss_on_batch0_after_step10"] as? Double)
    #expect(abs(loss - expected) <= 1e-5 + 1e-4 * expected)

    let temporary = try TemporaryFolder()
    let path = temporary.url.appending(path: "inference.onnx")
    try session.model.write(to: path)
    let model = try Model(contentsOf: path)
    let inference = try #require(folder.manifest["inference"] as? [String: Any])
    #expect(model.outputs.map(\.name) == inference["outputs"] as? [String])
    let reference = try Model(contentsOf: folder.url.appending(path: "inference_model.onnx"))
    #expect(model.inputs == reference.inputs)
    #expect(model.outputs == reference.outputs)
    var inputs: [String: Tensor] = [:]
    for (key, tensor) in folder.tensors where key.hasPrefix("inference.in.") {
      inputs[String(key.dropFirst(13))] = tensor
    }
    for (output, value) in try InferenceSession(model).run(inputs) {
      expectClose(
        value, folder.tensors["inference.out.\(output)"], try folder.tolerance("inference"),
        "\(name), \(output)")
    }
  }

  @Test(arguments: ArtifactFolder.names)
  func `the training model alone is enough`(name: String) async throws {
    let folder = try ArtifactFolder(name)
    let copy = try folder.copy(without: ["eval_model.onnx"])
    let session = try ONNXRuntimeArtifacts(folder: copy.url).session(
      checkpoint: "checkpoint_step5", learningRate: folder.learningRate)
    try folder.compare(try await folder.train(session, steps: 6...10), 6...10)
    try folder.compare(session, "param10.")
  }

  @Test(arguments: ArtifactFolder.names)
  func `a session is saved and goes on with the same bytes, its rate included`(name: String)
    async throws
  {
    let folder = try ArtifactFolder(name)
    let first = try folder.artifacts().session(learningRate: folder.learningRate * 2)
    first.properties = ["best": .number(0.5), "count": .integer(.max), "who": .text("me")]
    _ = try await folder.train(first, steps: 1...3)
    let copy = try folder.copy()
    try first.writeONNXRuntimeCheckpoint(to: copy.url.appending(path: "checkpoint"))
    let second = try ONNXRuntimeArtifacts(folder: copy.url).session()
    #expect(second.learningRate == folder.learningRate * 2)
    #expect(second.updateCount == 3)
    #expect(second.properties == first.properties)
    let losses = try await folder.train(first, steps: 4...6)
    let resumed = try await folder.train(second, steps: 4...6)
    #expect(resumed == losses)
    for (parameter, value) in first.changedParameters {
      #expect(second.changedParameters[parameter]?.data == value.data, "\(parameter)")
    }
  }

  @Test func `a nominal checkpoint takes its values from elsewhere`() throws {
    let folder = try ArtifactFolder("mlp_classifier")
    let artifacts = try folder.artifacts()
    expectError(.badData, "is nominal") {
      _ = try artifacts.session(checkpoint: "nominal_checkpoint")
    }
    let whole = try artifacts.session()
    let session = try artifacts.session(
      checkpoint: "nominal_checkpoint", weights: whole.model.parameters)
    for (name, value) in whole.changedParameters {
      #expect(session.changedParameters[name]?.data == value.data)
    }
  }

  @Test func `what is missing or does not fit is named`() throws {
    let folder = try ArtifactFolder("mlp_classifier")
    expectError(.notFound, "generate_artifacts") {
      _ = try ONNXRuntimeArtifacts(folder: folder.url.appending(path: "nowhere"))
    }
    expectError(.notFound, "checkpoint_step7: there is no such file") {
      _ = try folder.artifacts().session(checkpoint: "checkpoint_step7")
    }
    expectError(.damaged, "no ONNX Runtime checkpoint") {
      _ = try folder.artifacts().session(checkpoint: "manifest.json")
    }
    expectError(.invalidArgument, "no input 'label'. Did you mean 'labels'?") {
      _ = try ONNXRuntimeArtifacts(folder: folder.url, target: "label").session()
    }
    expectError(.invalidArgument, "no value 'logit'") {
      _ = try ONNXRuntimeArtifacts(folder: folder.url, output: "logit").session()
    }
    let bare = try folder.copy(without: ["optimizer_model.onnx"])
    let artifacts = try ONNXRuntimeArtifacts(folder: bare.url)
    expectError(.notFound, "optimizer_model.onnx") { _ = try artifacts.session() }
    _ = try artifacts.session(optimizer: .sgd(learningRate: 0.1))
    expectError(.badData, "there are 2 moments") {
      // Any optimizer without moments but SGD, which ONNX Runtime gives one, would do.
      let checkpoint = try ORTCheckpoint(
        path: folder.url.appending(path: "checkpoint_step5").path)
      let session = try folder.artifacts().session(checkpoint: "checkpoint_step5")
      var moments = OrderedTable<[Tensor]>()
      for (name, table) in checkpoint.groups[0].moments { moments[name] = table.map(\.value) }
      let sgd = try artifacts.session(optimizer: .sgd(learningRate: 0.1))
      #expect(session.updateCount == 5)
      try sgd.resume(moments: moments, updateCount: 5)
    }
  }

  @Test func `a checkpoint of another model is refused`() throws {
    let folder = try ArtifactFolder("mlp_classifier")
    let other = try ArtifactFolder("mlp_regressor")
    let copy = try folder.copy()
    try FileManager.default.removeItem(at: copy.url.appending(path: "checkpoint"))
    try FileManager.default.copyItem(
      at: other.url.appending(path: "checkpoint"), to: copy.url.appending(path: "checkpoint"))
    expectError(.badData, "do not train the same parameters") {
      _ = try ONNXRuntimeArtifacts(folder: copy.url).session()
    }
    var checkpoint = try ORTCheckpoint(path: folder.url.appending(path: "checkpoint").path)
    checkpoint.parameters["fc1.bias"]?.value = try Tensor([Float(1), 2])
    try checkpoint.write(to: copy.url.appending(path: "checkpoint").path)
    expectError(.badData, "parameter 'fc1.bias': the shape [16] is expected and [2] is given") {
      _ = try ONNXRuntimeArtifacts(folder: copy.url).session()
    }
  }

  @Test func `targets of another integer type and shape are taken`() throws {
    let folder = try ArtifactFolder("mlp_regressor")
    let session = try folder.artifacts().session(checkpoint: "checkpoint_step10")
    let set = folder.data[0]
    let rows = Array(0..<set.count)
    let flat = try ExampleSet(
      inputs: set.load(rows: rows, variants: rows.map { _ in nil }),
      targets: set.targets.reshaped(to: [set.count]))
    let expected = try session.evaluate([set], batchSize: set.count).loss
    #expect(try session.evaluate([flat], batchSize: set.count).loss == expected)
  }
}
