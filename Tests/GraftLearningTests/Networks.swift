import GraftGraph
import GraftLearning
import GraftTensor

/// Small models and examples that the tests of sessions train.
enum Networks {
  static func random(_ shape: Shape, seed: UInt64) throws -> Tensor {
    var generator = SeededGenerator(seed: seed)
    return try Tensor(
      (0..<shape.elementCount).map { _ in Float(generator.normal()) * 0.5 }, shape: shape)
  }

  /// A frozen w1, then a w2 that may train; x [N, 2] to y [N, 3].
  static func twoLayers() throws -> Model {
    Model(
      graph: Graph(
        inputs: [input(2)], outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node("MatMul", inputs: ["x", "w1"], outputs: ["h"]),
          Node("Tanh", inputs: ["h"], outputs: ["t"]),
          Node("MatMul", inputs: ["t", "w2"], outputs: ["y"]),
        ],
        initializers: OrderedTable([
          ("w1", try random([2, 4], seed: 1)), ("w2", try random([4, 3], seed: 2)),
        ])))
  }

  /// w1, batch normalization, dropout, w2; x [N, 2] to y [N, 3].
  static func normalized(ratio: Float = 0.4) throws -> Model {
    Model(
      graph: Graph(
        inputs: [input(2)], outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node("MatMul", inputs: ["x", "w1"], outputs: ["h"]),
          Node(
            "BatchNormalization", inputs: ["h", "scale", "bias", "mean", "variance"],
            outputs: ["n"]),
          Node("Relu", inputs: ["n"], outputs: ["r"]),
          Node("Dropout", inputs: ["r", "ratio"], outputs: ["d"]),
          Node("MatMul", inputs: ["d", "w2"], outputs: ["y"]),
        ],
        initializers: OrderedTable([
          ("w1", try random([2, 16], seed: 1)),
          ("scale", try Tensor([Float](repeating: 1, count: 16))),
          ("bias", try random([16], seed: 3)), ("mean", try Tensor(zeros: [16])),
          ("variance", try Tensor([Float](repeating: 1, count: 16))),
          ("ratio", try Tensor(scalar: ratio)), ("w2", try random([16, 3], seed: 2)),
        ])))
  }

  private static func input(_ width: Int) -> Feature {
    Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(width)]))
  }

  /// x [count, 2] and class numbers below 3.
  static func examples(_ count: Int = 7, seed: UInt64 = 5) throws -> ExampleSet {
    try ExampleSet(
      inputs: ["x": try random([count, 2], seed: seed)],
      targets: try Tensor((0..<count).map { Int64($0 * 2 % 3) }))
  }
}

extension TrainingRun {
  /// All events, without waiting.
  func allEvents() throws -> [TrainingEvent] {
    let iterator = makeAsyncIterator()
    var events: [TrainingEvent] = []
    while let event = try iterator.nextEvent() { events.append(event) }
    return events
  }
}
