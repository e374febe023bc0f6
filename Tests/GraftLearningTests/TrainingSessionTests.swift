import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftTensor
import Testing

@testable import GraftLearning

/// A frozen layer w1, then a layer w2 that trains; N x 2 -> N x 3.
private func twoLayers() throws -> Model {
  var generator = SeededGenerator(seed: 4)
  func matrix(_ rows: Int, _ columns: Int) throws -> Tensor {
    try Tensor((0..<rows * columns).map { _ in Float(generator.normal()) }, shape: [rows, columns])
  }
  return Model(
    graph: Graph(
      inputs: [
        Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(2)]))
      ],
      outputs: [Feature(name: "y", type: .tensor(.float32, shape: [.named("N"), .fixed(3)]))],
      nodes: [
        Node("MatMul", inputs: ["x", "w1"], outputs: ["h"]),
        Node("Tanh", inputs: ["h"], outputs: ["t"]),
        Node("MatMul", inputs: ["t", "w2"], outputs: ["y"]),
      ],
      initializers: OrderedTable([("w1", try matrix(2, 4)), ("w2", try matrix(4, 3))])))
}

private func examples(labels: [Int64] = [0, 1, 2, 1]) throws -> ExampleSet {
  try ExampleSet(
    inputs: ["x": try Tensor([1, 0, 0, 1, -1, 0, 0.5, 1] as [Float], shape: [4, 2])],
    targets: try Tensor(labels))
}

private func session(
  _ options: TrainingOptions = TrainingOptions(), loss: Loss = .crossEntropy
) throws -> TrainingSession {
  try TrainingSession(
    try twoLayers(), trainable: .matching("w2"), loss: loss, optimizer: .sgd(learningRate: 0.5),
    options: options)
}

struct TrainingSessionTests {
  @Test func `training lowers the loss and leaves frozen parameters alone`() async throws {
    let session = try session()
    var losses: [Double] = []
    for try await event in try session.fit([examples()], epochs: 20, batchSize: 4)
    where event.kind == .epoch {
      losses.append(event.loss)
    }
    #expect(losses.count == 20)
    #expect(try #require(losses.last) < 0.5 * (try #require(losses.first)))
    let before = try twoLayers().graph.initializers["w1"]?.values(as: Float.self)
    #expect(try session.model.graph.initializers["w1"]?.values(as: Float.self) == before)
    #expect(session.changedParameters.keys == ["w2"])
  }

  @Test func `a label outside the classes is an error naming both`() throws {
    let session = try session()
    let set = try examples(labels: [0, 1, 3, 1])
    #expect {
      _ = try session.fit([set], epochs: 1, batchSize: 4)
    } throws: {
      "\($0)".contains("the target of row 2, counted from 0, is 3; the 3 classes are 0 to 2")
    }
  }

  @Test func `targets that are no class numbers are refused`() throws {
    let set = try ExampleSet(
      inputs: ["x": try Tensor(zeros: [1, 2])], targets: try Tensor(zeros: [1]))
    let run = try session().fit([set], epochs: 1, batchSize: 1)
    #expect(throws: GraftError.self) { _ = try run.allEvents() }
  }

  @Test func `the same seed gives the same parameters to the bit`() async throws {
    func train() async throws -> [Float] {
      let session = try session()
      for try await _ in try session.fit([examples()], epochs: 5, batchSize: 2, shuffleSeed: 7) {}
      return try #require(session.changedParameters["w2"]).values()
    }
    #expect(try await train() == train())
  }

  @Test func `a change of the learning rate holds for the next update`() async throws {
    let session = try session()
    var rates: [Float] = []
    for try await event in try session.fit([examples()], epochs: 3, batchSize: 4)
    where event.kind == .batch {
      rates.append(event.learningRate)
      session.learningRate *= 0.5
    }
    #expect(rates == [0.5, 0.25, 0.125])
  }

  @Test func `accumulated gradients are added up across epochs and a rest is applied at the end`()
    async throws
  {
    var options = TrainingOptions()
    options.accumulation = 3
    let session = try session(options)
    var steps: [Int] = []
    for try await event in try session.fit([examples()], epochs: 2, batchSize: 2)
    where event.kind == .batch {
      steps.append(event.step)
    }
    #expect(steps == [1, 1, 1, 2])
    #expect(session.updateCount == 2)
  }

  @Test func `a cancelled run keeps what was learned`() async throws {
    let session = try session()
    let start = try #require(session.changedParameters["w2"]).values(as: Float.self)
    let run = try session.fit([examples()], epochs: 100, batchSize: 4)
    let events = run.makeAsyncIterator()
    for _ in 0..<10 { _ = try events.nextEvent() }
    #expect(try #require(session.changedParameters["w2"]).values(as: Float.self) != start)
    #expect(session.updateCount == 5)
  }

  @Test func `evaluation tells loss and accuracy and changes nothing`() async throws {
    let session = try session()
    for try await _ in try session.fit([examples()], epochs: 50, batchSize: 4) {}
    let before = try #require(session.changedParameters["w2"]).values(as: Float.self)
    let result = try session.evaluate([examples()])
    #expect(result.accuracy == 1)
    #expect(result.exampleCount == 4)
    #expect(try #require(session.changedParameters["w2"]).values(as: Float.self) == before)
  }

  @Test func `a missing input is named with the set`() throws {
    let set = try ExampleSet(
      name: "set.safetensors", inputs: [:], targets: try Tensor([0 as Int64]))
    let run = try session().fit([set], epochs: 1, batchSize: 1)
    #expect {
      _ = try run.allEvents()
    } throws: {
      "\($0)".contains("set.safetensors: there is no tensor for the input 'x'")
    }
  }
}
