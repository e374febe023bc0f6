import Foundation
import Graft
import GraftTestSupport
import Testing

@testable import GraftLearning

private let folder = SharedData.path("onnx/training")
private let cases = GoldenFile.stems(in: folder, extension: "json")

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TrainingGoldenTests {
  @Test(arguments: cases)
  func `ten steps give the oracle's losses, gradients and parameters`(name: String) async throws {
    let golden = try TrainingCase(name)
    let session = try golden.session()
    var losses: [Double] = []
    var updates = 0
    for try await event in try session.fit(golden.data, golden.options) {
      guard event.kind == .batch else { continue }
      losses.append(event.batchLoss)
      guard session.updateCount > updates else { continue }
      updates = session.updateCount
      if updates == 1 { golden.compare(session, "param1.", "state1.") }
    }
    golden.compare(session, "param10.", "state10.")
    let loss = try #require(golden.file.tensors["loss"])
    let tolerance = try #require(golden.file.tolerance("loss"))
    expectClose(
      try Tensor(losses.map(Float.init)), loss, tolerance, "\(name), losses")
  }

  @Test(arguments: cases)
  func `the first step's gradients are the oracle's`(name: String) throws {
    let golden = try TrainingCase(name)
    let session = try golden.session()
    let order = BatchOrder(
      exampleCounts: golden.data.map(\.count), batchSize: golden.options.batchSize,
      shuffleSeed: nil)
    let cache = session.makeCache()
    for batch in order.batches(epoch: 0).prefix(golden.accumulation) {
      _ = try session.addGradients(batch, of: golden.data, features: cache)
    }
    let expected = golden.file.tensors(after: "grad1.")
    #expect(Set(session.accumulatedGradients.keys).isSubset(of: expected.keys))
    let tolerance = try #require(golden.file.tolerance("grad1"))
    for (parameter, gradient) in expected {
      expectClose(
        session.accumulatedGradients[parameter], gradient, tolerance,
        "\(name), gradient of \(parameter)")
    }
  }
}

/// One case of the manifest: model, data in the order of its batches, and how to train.
private struct TrainingCase {
  let name: String
  let file: GoldenFile
  let data: [ExampleSet]
  let options: FitOptions
  let accumulation: Int

  init(_ name: String) throws {
    self.name = name
    let file = try GoldenFile(stem: "\(folder)/\(name)")
    self.file = file
    let manifest = file.manifest
    let count = manifest["batches"] as? Int ?? 0
    // Every batch is a set of its own: batches never cross sets.
    data = try (0..<count).map { index in
      try ExampleSet(
        name: "batch \(index)", inputs: file.tensors(after: "batch\(index).in."),
        targets: try #require(file.tensors["batch\(index).target"]))
    }
    let losses = manifest["losses"] as? [Any] ?? []
    let steps = manifest["steps"] as? Int ?? 0
    accumulation = steps > 0 ? losses.count / steps : 1
    options = FitOptions(
      epochs: nil, updates: steps, batchSize: data.map(\.count).max() ?? 1, shuffleSeed: nil)
  }

  func session() throws -> TrainingSession {
    let manifest = file.manifest
    let model = try #require(manifest["model"] as? String)
    let trainable = try #require(manifest["trainable"] as? [String])
    var options = TrainingOptions()
    options.accumulation = accumulation
    let optimizer = manifest["optimizer"] as? [String: Any] ?? [:]
    options.clipNorm = (optimizer["clip_norm"] as? Double).map(Float.init)
    if let normalization = manifest["batch_normalization"] as? [String: Any] {
      options.batchNormalization = normalization["mode"] as? String == "batch" ? .train : .frozen
    }
    return try TrainingSession(
      try Model(contentsOf: URL(fileURLWithPath: "\(folder)/\(model)").standardizedFileURL),
      output: manifest["output"] as? String,
      trainable: .matching(trainable.map(NSRegularExpression.escapedPattern)),
      loss: try loss(), optimizer: try self.optimizer(optimizer), options: options)
  }

  private func loss() throws -> Loss {
    let loss = file.manifest["loss"] as? [String: Any] ?? [:]
    switch loss["name"] as? String {
    case "CrossEntropy":
      let weights = (loss["class_weights"] ?? loss["weight"]) as? [Double]
      return .crossEntropy(
        classWeights: weights?.map(Float.init), ignoreIndex: loss["ignore_index"] as? Int)
    case "MSE": return .meanSquaredError
    case "L1": return .meanAbsoluteError
    case "BCEWithLogits":
      return .binaryCrossEntropy(
        positiveWeights: (loss["pos_weight"] as? [Double])?.map(Float.init))
    case let other: throw UnknownCase(what: "loss \(other ?? "")")
    }
  }

  private func optimizer(_ table: [String: Any]) throws -> Optimizer {
    func number(_ key: String) throws -> Float { Float(try #require(table[key] as? Double)) }
    switch table["name"] as? String {
    case "SGD": return .sgd(learningRate: try number("lr"))
    case "AdamW":
      return .adamW(
        learningRate: try number("lr"), beta1: try number("beta1"), beta2: try number("beta2"),
        epsilon: try number("eps"), weightDecay: try number("weight_decay"))
    case let other: throw UnknownCase(what: "optimizer \(other ?? "")")
    }
  }

  /// Compares the parameters and running statistics with those stored under a prefix.
  func compare(_ session: TrainingSession, _ parameters: String, _ states: String) {
    let rules = (file.manifest["tolerance"] as? [String: Any])?["param"] as? [String: Any]
    let special = rules?["abs_of"] as? [String: Double] ?? [:]
    let changed = session.changedParameters
    for (kind, prefix) in [("param", parameters), ("state", states)] {
      for (parameter, expected) in file.tensors(after: prefix) {
        guard var tolerance = file.tolerance(kind) else {
          Issue.record("\(name): no tolerance for \(kind)")
          continue
        }
        tolerance.absolute = special[parameter] ?? tolerance.absolute
        expectClose(
          changed[parameter], expected, tolerance, "\(name), \(prefix)\(parameter)")
      }
    }
  }
}

private struct UnknownCase: Error {
  let what: String
}
