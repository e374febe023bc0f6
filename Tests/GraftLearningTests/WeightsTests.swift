import Foundation
import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

struct WeightsTests {
  private func session() throws -> TrainingSession {
    try TrainingSession(
      try Networks.normalized(), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .sgd(learningRate: 0.1))
  }

  private func predictions(_ session: TrainingSession) throws -> [Float] {
    let plan = try Plan(session.model.graph, registry: .standard, options: .standard)
    let results = try plan.run(Networks.examples(3).load(rows: [0, 1, 2]))
    return try #require(results["y"]).values()
  }

  @Test(arguments: ["w1", "w2", "mean"])
  func `weights set by name change predictions and losses`(name: String) throws {
    let session = try session()
    let data = try Networks.examples(3)
    let (before, loss) = (try predictions(session), try session.evaluate([data]).loss)
    let old = try #require(session.weights[name])
    let new = try Networks.random(old.shape, seed: 77)
    try session.setWeights([name: new])
    #expect(try session.weights[name]?.values(as: Float.self) == new.values(as: Float.self))
    #expect(try predictions(session) != before)
    #expect(try session.evaluate([data]).loss != loss)
    try session.setWeights([name: old])
    #expect(try predictions(session) == before)
    #expect(try session.evaluate([data]).loss == loss)
  }

  @Test func `frozen weights set between two batches are used at once`() throws {
    let data = try Networks.examples(3)
    let new = try Networks.random([2, 16], seed: 77)
    let session = try session()
    let events = try session.fit([data], epochs: 2, batchSize: 3).makeAsyncIterator()
    for _ in 0..<3 { _ = try events.nextEvent() }
    let trained = try #require(session.weights["w2"])
    try session.setWeights(["w1": new])
    let loss = try #require(try events.nextEvent()).batchLoss
    let other = try self.session()
    try other.setWeights(["w1": new, "w2": trained])
    other.batchCount = 1
    let expected = try other.fit([data], epochs: 1, batchSize: 3).allEvents()[1].batchLoss
    #expect(loss == expected)
  }

  @Test func `weights that do not fit are refused and nothing changes`() throws {
    let session = try session()
    let before = try session.flatWeights(.all)
    for (weights, text) in [
      (["w3": try Tensor(zeros: [1])], "no weights 'w3'"),
      (["w2": try Tensor(zeros: [3, 16])], "shape [16, 3] in the model and [3, 16] is given"),
      (["w2": try Tensor(zeros: [16, 3], .float64)], "float32 in the model and float64 is given"),
      (["mean": try Tensor([Float](repeating: .nan, count: 16))], "no finite number"),
    ] {
      #expect {
        try session.setWeights(weights.merging(["w1": Tensor(zeros: [2, 16])]) { $1 })
      } throws: {
        "\($0)".contains(text)
      }
    }
    #expect(try session.flatWeights(.all) == before)
  }

  @Test func `a flat row gets and sets trainable weights or all`() throws {
    let session = try session()
    #expect(try session.flatWeights() == session.weights["w2"]?.values(as: Float.self))
    // w1, scale, bias, mean, variance, ratio, w2.
    let all = try session.flatWeights(.all)
    #expect(all.count == 32 + 4 * 16 + 1 + 48)
    #expect(Array(all.suffix(48)) == (try session.flatWeights()))
    let other = try self.session()
    try other.setWeights(["w1": Networks.random([2, 16], seed: 5)])
    try other.setFlatWeights([Float](repeating: 0.5, count: 48))
    #expect(try other.weights["w2"]?.values(as: Float.self).allSatisfy { $0 == 0.5 } == true)
    try other.setFlatWeights(all, .all)
    #expect(try predictions(other) == predictions(session))
    #expect {
      try other.setFlatWeights([1, 2])
    } throws: {
      "\($0)".contains("2 numbers are given, and there are 48 weights")
    }
  }

  @Test func `the average of two trained rows is a model, as federated learning needs it`() throws {
    let sessions = [try session(), try session()]
    for (index, session) in sessions.enumerated() {
      let data = try Networks.examples(6, seed: UInt64(index))
      _ = try session.fit([data], epochs: 2, batchSize: 3).allEvents()
    }
    let rows = try sessions.map { try $0.flatWeights() }
    try sessions[0].setFlatWeights(zip(rows[0], rows[1]).map { ($0 + $1) / 2 })
    _ = try sessions[0].fit([Networks.examples()], epochs: 1, batchSize: 7).allEvents()
  }

  @Test func `what trains is saved alone and read back`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "trained.safetensors")
    let first = try session()
    _ = try first.fit([Networks.examples()], epochs: 2, batchSize: 3).allEvents()
    try first.saveTrainable(to: url)
    #expect(try SafetensorsFile(path: url.path).tensors.keys == ["w2"])
    let second = try session()
    try second.loadWeights(from: url)
    #expect(try predictions(second) == predictions(first))
  }
}

struct InputGradientTests {
  /// Compares with central differences of the evaluated loss.
  @Test func `the loss's gradients agree with central differences`() throws {
    let session = try TrainingSession(
      try Networks.normalized(), trainable: .all, loss: .crossEntropy, optimizer: .sgd())
    _ = try session.fit([Networks.examples()], epochs: 2, batchSize: 7).allEvents()
    let values = try Networks.random([4, 2], seed: 40).values(as: Float.self)
    let targets = try Tensor([0, 2, 1, 1] as [Int64])
    func loss(_ values: [Float]) throws -> Double {
      let set = try ExampleSet(inputs: ["x": Tensor(values, shape: [4, 2])], targets: targets)
      return try session.evaluate([set]).loss
    }
    let result = try session.inputGradients(["x": Tensor(values, shape: [4, 2])], targets: targets)
    #expect(abs(result.value - (try loss(values))) < 1e-6)
    let gradient = try #require(result.gradients["x"])
    #expect(gradient.shape == [4, 2])
    for (index, value) in try gradient.values(as: Float.self).enumerated() {
      var (above, below) = (values, values)
      above[index] += 1e-2
      below[index] -= 1e-2
      let numeric = (try loss(above) - loss(below)) / 2e-2
      #expect(abs(Double(value) - numeric) < 2e-3 + 0.02 * abs(numeric), "element \(index)")
    }
  }

  /// y = x w, so dy/dx of the weighted sum is weights * w transposed.
  @Test func `an output's gradients are those worked out by hand`() throws {
    let model = Model(
      graph: Graph(
        inputs: [Feature(name: "x", type: .unknown), Feature(name: "unused", type: .unknown)],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [Node("MatMul", inputs: ["x", "w"], outputs: ["y"])],
        initializers: OrderedTable([("w", try Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]))])))
    let inputs = [
      "x": try Tensor([1, 1] as [Float], shape: [1, 2]), "unused": try Tensor(zeros: [3]),
    ]
    let plain = try model.inputGradients(inputs)
    #expect(plain.value == 10)
    #expect(try plain.gradients["x"]?.values(as: Float.self) == [3, 7])
    #expect(try plain.gradients["unused"]?.values(as: Float.self) == [0, 0, 0])
    let weighted = try model.inputGradients(
      of: "y", inputs, weights: Tensor([1, -1] as [Float], shape: [1, 2]))
    #expect(weighted.value == -2)
    #expect(try weighted.gradients["x"]?.values(as: Float.self) == [-1, -1])
    #expect(throws: GraftError.self) { try model.inputGradients(of: "z", inputs) }
  }
}
