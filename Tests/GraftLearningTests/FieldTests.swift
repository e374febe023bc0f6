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
