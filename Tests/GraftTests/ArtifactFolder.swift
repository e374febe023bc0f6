import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// A folder of training artifacts with what ONNX Runtime made of them.
struct ArtifactFolder {
  static let names = ["mlp_classifier", "mlp_regressor", "cnn_bn_classifier", "wav2vec2_tiny"]

  let name: String
  let url: URL
  let manifest: [String: Any]
  let tensors: OrderedTable<Tensor>
  /// Every batch is a set of its own: batches never cross sets.
  let data: [ExampleSet]
  let learningRate: Float

  init(_ name: String) throws {
    self.name = name
    let folder = URL(fileURLWithPath: SharedData.path("onnx/artifacts/\(name)"))
    url = folder
    let json = try Data(contentsOf: folder.appending(path: "manifest.json"))
    manifest = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let tensors = try SafetensorsFile(path: folder.appending(path: "expected.safetensors").path)
      .tensors
    self.tensors = tensors
    let input = try #require((manifest["inputs"] as? [String])?.first)
    var data: [ExampleSet] = []
    while let target = tensors["batch\(data.count).target"] {
      let value = try #require(tensors["batch\(data.count).in.\(input)"])
      data.append(
        try ExampleSet(name: "batch \(data.count)", inputs: [input: value], targets: target))
    }
    self.data = data
    let optimizer = try #require(manifest["optimizer"] as? [String: Any])
    learningRate = Float(try #require(optimizer["lr"] as? Double))
  }

  func artifacts() throws -> ONNXRuntimeArtifacts { try ONNXRuntimeArtifacts(folder: url) }

  func tolerance(_ kind: String) throws -> Tolerance {
    let rules = manifest["tolerance"] as? [String: Any]
    let rule = try #require(rules?[kind] as? [String: Any])
    return Tolerance(
      absolute: try #require(rule["abs"] as? Double),
      relative: try #require(rule["rel"] as? Double))
  }

  /// Trains through the steps, counted from 1, and gives their losses.
  func train(_ session: TrainingSession, steps: ClosedRange<Int>) async throws -> [Float] {
    // The batch of a step is (step - 1) mod their number.
    let first = (steps.lowerBound - 1) % data.count
    let order = Array(data[first...] + data[..<first])
    let options = FitOptions(
      epochs: nil, updates: steps.count, batchSize: data.map(\.count).max() ?? 1, shuffleSeed: nil)
    var losses: [Float] = []
    for try await event in try session.fit(order, options) where event.kind == .batch {
      losses.append(Float(event.batchLoss))
    }
    return losses
  }

  /// Compares parameters and running statistics with those stored under a prefix.
  func compare(_ session: TrainingSession, _ prefix: String) throws {
    let changed = session.changedParameters
    let tolerance = try tolerance("param")
    var count = 0
    for (key, expected) in tensors where key.hasPrefix(prefix) {
      let parameter = String(key.dropFirst(prefix.count))
      expectClose(changed[parameter], expected, tolerance, "\(name), \(key)")
      count += 1
    }
    #expect(count > 0)
  }

  func compare(_ losses: [Float], _ steps: ClosedRange<Int>) throws {
    let expected = try #require(tensors["losses"]).rows(steps.lowerBound - 1..<steps.upperBound)
    expectClose(try Tensor(losses), expected, try tolerance("loss"), "\(name), losses")
  }

  /// A copy of the folder that may be changed.
  func copy(without left: [String] = []) throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for file in try FileManager.default.contentsOfDirectory(atPath: url.path)
    where !left.contains(file) {
      let target = copy.url.appending(path: file)
      try FileManager.default.copyItem(at: url.appending(path: file), to: target)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target.path)
    }
    return copy
  }
}
