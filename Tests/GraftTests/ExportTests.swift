import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Train, export, open elsewhere, reopen, train on.
@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(if: Oracle.allCases.allSatisfy(\.isPresent), Oracle.reason))
struct ExportTests {
  private static let cases = [
    "mlp_classifier.ce.sgd.all", "mlp_external.ce.sgd.all", "mlp_regressor.mse.adamw.all",
    "cnn_bn_classifier.ce.adamw.all", "resnet_mini.ce.adamw.all", "fire_mini.ce.adamw.all",
    "lstm_mini.ce.adamw.all", "transformer_mini.ce.adamw.all", "wav2vec2_tiny.ce.adamw.last",
  ]

  @Test func `exported models give the same numbers in ONNX Runtime and train further`()
    async throws
  {
    let folder = try TemporaryFolder()
    for name in Self.cases {
      let golden = try GoldenFile(stem: SharedData.path("onnx/training/\(name)"))
      let session = try self.session(golden, model: nil)
      try await train(session, golden)
      try session.model.write(to: try folder.folder(name).appending(path: "model.onnx"))
      let inputs = golden.tensors(after: "batch0.in.")
      try SafetensorsFile.write(
        OrderedTable(inputs.sorted { $0.key < $1.key }),
        to: folder.url.appending(path: "\(name)/inputs.safetensors").path)
    }
    for oracle in Oracle.allCases {
      try oracle.run(folder.url)
      for name in Self.cases {
        do {
          try compare(name, in: folder.url.appending(path: name), oracle)
        } catch {
          Issue.record("\(name), \(oracle): \(error)")
        }
      }
    }
    for name in Self.cases {
      let golden = try GoldenFile(stem: SharedData.path("onnx/training/\(name)"))
      let url = folder.url.appending(path: "\(name)/model.onnx")
      let session = try self.session(golden, model: try Model(contentsOf: url))
      try await train(session, golden)
      #expect(session.updateCount > 0, "\(name)")
    }
  }

  private func session(_ golden: GoldenFile, model: Model?) throws -> TrainingSession {
    let file = try #require(golden.manifest["model"] as? String)
    let url = URL(fileURLWithPath: SharedData.path("onnx/training/\(file)")).standardizedFileURL
    let trainable = try #require(golden.manifest["trainable"] as? [String])
    let loss = (golden.manifest["loss"] as? [String: Any])?["name"] as? String
    return try TrainingSession(
      try model ?? Model(contentsOf: url), output: golden.manifest["output"] as? String,
      trainable: .matching(trainable.map(NSRegularExpression.escapedPattern)),
      loss: loss == "MSE" ? .meanSquaredError : .crossEntropy,
      optimizer: .sgd(learningRate: 0.01))
  }

  private func train(_ session: TrainingSession, _ golden: GoldenFile) async throws {
    let data = try ExampleSet(
      inputs: golden.tensors(after: "batch0.in."),
      targets: try #require(golden.tensors["batch0.target"]))
    for try await event in try session.fit([data], epochs: 2, batchSize: data.count)
    where event.kind == .batch {
      #expect(event.loss.isFinite)
    }
  }

  private func compare(_ name: String, in folder: URL, _ oracle: Oracle) throws {
    let expected = try Oracle.outputs(in: folder)
    let inputs = try SafetensorsFile(
      path: folder.appending(path: "inputs.safetensors").path
    ).tensors
    let model = try Model(contentsOf: folder.appending(path: "model.onnx"))
    let outputs = try InferenceSession(model).run(
      Dictionary(uniqueKeysWithValues: inputs.map { ($0, $1) }))
    #expect(Set(outputs.keys) == Set(expected.keys))
    for (output, tensor) in expected {
      expectClose(
        outputs[output], tensor, Tolerance(absolute: 2e-5, relative: 1e-4),
        "\(name), \(oracle), \(output)")
    }
  }
}
