import Foundation
import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// What users of other systems ran into.
struct FieldTests {
  private func input(_ shape: [FeatureDimension]) -> Feature {
    Feature(name: "x", type: .tensor(.float32, shape: shape))
  }

  @Test(arguments: [ElementType.float32, .uint8])
  func `a picture can be the target of a mean squared error`(type: ElementType) throws {
    let model = Model(
      graph: Graph(
        inputs: [input([.named("N"), .fixed(3), .fixed(6), .fixed(6)])],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node(
            "Conv", inputs: ["x", "w"], outputs: ["y"], attributes: ["pads": .ints([1, 1, 1, 1])])
        ],
        initializers: OrderedTable([("w", try Networks.random([3, 3, 3, 3], seed: 1))])))
    let session = try TrainingSession(
      model, trainable: .all, loss: .meanSquaredError, optimizer: .adamW(learningRate: 0.05))
    let pictures = try Networks.random([4, 3, 6, 6], seed: 2)
    let targets =
      type == .uint8
      ? try Tensor((0..<432).map { UInt8($0 % 3) }, shape: [4, 3, 6, 6]) : pictures
    let data = try ExampleSet(inputs: ["x": pictures], targets: targets)
    let losses = try session.fit([data], validation: [data], epochs: 30, batchSize: 2).allEvents()
      .compactMap { $0.kind == .epoch ? $0.validation : nil }
    #expect(try #require(losses.last).loss < 0.9 * losses[0].loss)
    let error = try #require(losses.last?.regression).rootMeanSquaredError
    #expect(abs(error - (try #require(losses.last).loss.squareRoot())) < 1e-5)
  }

  /// The layer before the normalization trains; its gradient is compared with central differences.
  @Test func `gradients pass a batch normalization in inference mode`() throws {
    var options = TrainingOptions()
    options.batchNormalization = .frozen
    options.dropout = .off
    let session = try TrainingSession(
      try Networks.normalized(), trainable: .matching("w1"), loss: .crossEntropy, optimizer: .sgd(),
      options: options)
    let data = try Networks.examples(6)
    _ = try session.addGradients(
      Batch(set: 0, rows: Array(0..<6)), of: [data], features: session.makeCache())
    let gradient = try #require(session.accumulatedGradients["w1"]).values(as: Float.self)
    let values = try session.flatWeights()
    for index in [0, 7, 20, 31] {
      var losses: [Double] = []
      for step in [Float(1e-2), -1e-2] {
        var shifted = values
        shifted[index] += step
        try session.setFlatWeights(shifted)
        losses.append(try session.evaluate([data]).loss)
      }
      let numeric = (losses[0] - losses[1]) / 2e-2
      #expect(abs(Double(gradient[index]) - numeric) < 2e-3 + 0.02 * abs(numeric))
    }
  }

  /// The LSTM lies in the frozen part, behind a layer that it reads step by step.
  @Test func `a frozen LSTM does not keep the last layer from training`() throws {
    let model = Model(
      graph: Graph(
        inputs: [input([.named("N"), .fixed(5), .fixed(2)])],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node(
            "Transpose", inputs: ["x"], outputs: ["steps"], attributes: ["perm": .ints([1, 0, 2])]),
          Node(
            "LSTM", inputs: ["steps", "W", "R"], outputs: ["", "h"],
            attributes: ["hidden_size": .int(4)]),
          Node("Squeeze", inputs: ["h", "axis"], outputs: ["s"]),
          Node("MatMul", inputs: ["s", "w"], outputs: ["y"]),
        ],
        initializers: OrderedTable([
          ("W", try Networks.random([1, 16, 2], seed: 1)),
          ("R", try Networks.random([1, 16, 4], seed: 2)), ("axis", try Tensor([0 as Int64])),
          ("w", try Networks.random([4, 3], seed: 3)),
        ])))
    let session = try TrainingSession(
      model, trainable: .matching("w"), loss: .crossEntropy, optimizer: .sgd(learningRate: 0.5))
    let data = try ExampleSet(
      inputs: ["x": Networks.random([6, 5, 2], seed: 4)],
      targets: Tensor([0, 1, 2, 0, 1, 2] as [Int64]))
    #expect(try session.graph(for: data).features == ["s"])
    let losses = try session.fit([data], epochs: 30, batchSize: 3).allEvents()
      .filter { $0.kind == .epoch }.map(\.loss)
    #expect(try #require(losses.last) < losses[0])
    #expect(session.changedParameters.keys == ["w"])
  }

  /// Slow and fast movements of three axes over 20 steps.
  @Test func `a convolution, an LSTM and a dense layer train together`() throws {
    let model = Model(
      graph: Graph(
        inputs: [input([.named("N"), .fixed(3), .fixed(20)])],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node(
            "Conv", inputs: ["x", "filters"], outputs: ["c"], attributes: ["strides": .ints([2])]),
          Node("Relu", inputs: ["c"], outputs: ["r"]),
          Node(
            "Transpose", inputs: ["r"], outputs: ["steps"], attributes: ["perm": .ints([2, 0, 1])]),
          Node(
            "LSTM", inputs: ["steps", "W", "R", "B"], outputs: ["", "h"],
            attributes: ["hidden_size": .int(6)]),
          Node("Squeeze", inputs: ["h", "axis"], outputs: ["s"]),
          Node("Gemm", inputs: ["s", "w", "b"], outputs: ["y"], attributes: ["transB": .int(1)]),
        ],
        initializers: OrderedTable([
          ("filters", try Networks.random([4, 3, 5], seed: 1)),
          ("W", try Networks.random([1, 24, 4], seed: 2)),
          ("R", try Networks.random([1, 24, 6], seed: 3)), ("B", try Tensor(zeros: [1, 48])),
          ("axis", try Tensor([0 as Int64])), ("w", try Networks.random([2, 6], seed: 4)),
          ("b", try Tensor(zeros: [2])),
        ])))
    var generator = SeededGenerator(seed: 5)
    var movements: [Float] = []
    for row in 0..<24 {
      let (speed, phase) = (row % 2 == 0 ? 0.3 : 1.2, 6 * generator.uniform())
      for axis in 0..<3 {
        for step in 0..<20 {
          let angle = speed * Double(step) + phase + Double(axis)
          movements.append(Float(sin(angle) + 0.1 * generator.normal()))
        }
      }
    }
    let set = try ExampleSet(
      inputs: ["x": try Tensor(movements, shape: [24, 3, 20])],
      targets: try Tensor((0..<24).map { Int64($0 % 2) }))
    let session = try TrainingSession(
      model, trainable: .matching("filters", "[WRBwb]"), loss: .crossEntropy,
      optimizer: .adam(learningRate: 0.02))
    let before = session.changedParameters
    #expect(before.count == 6)
    let first = try session.evaluate([set]).loss
    _ = try session.fit([set], epochs: 40, batchSize: 6, shuffleSeed: 1).allEvents()
    let end = try session.evaluate([set])
    #expect(end.loss < 0.5 * first, "\(first), \(end.loss)")
    #expect(try #require(end.accuracy) > 0.9)
    for (name, old) in before {
      let values = try #require(session.changedParameters[name]).values(as: Float.self)
      #expect(try old.values(as: Float.self) != values, "\(name)")
    }
  }

  @Test func `cancelling keeps what was learned`() async throws {
    let (model, data) = (try Networks.twoLayers(), try Networks.examples(5))
    let task = Task {
      let session = try TrainingSession(
        model, trainable: .matching("w2"), loss: .crossEntropy, optimizer: .sgd(learningRate: 0.5))
      let before = try session.flatWeights()
      do {
        for try await event in try session.fit([data], epochs: 1000, batchSize: 5)
        where event.kind == .epoch && event.epoch == 3 {
          withUnsafeCurrentTask { $0?.cancel() }
        }
      } catch let error as GraftError where error.code == .cancelled {
        return (session.updateCount, try session.flatWeights() != before)
      }
      return (0, false)
    }
    let (updates, hasChanged) = try await task.value
    #expect(updates == 3)
    #expect(hasChanged)
  }

  @Test func `the epoch's loss is the mean over all examples, not the last batch's`() throws {
    let session = try TrainingSession(
      try Networks.twoLayers(), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .sgd(learningRate: 1e-20))
    let data = try Networks.examples(7)
    let events = try session.fit([data], epochs: 1, batchSize: 3).allEvents()
    let epoch = try #require(events.first { $0.kind == .epoch })
    #expect(abs(epoch.loss - (try session.evaluate([data]).loss)) < 1e-6)
    #expect(epoch.loss != epoch.batchLoss)
  }
}
