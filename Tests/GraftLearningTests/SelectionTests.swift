import GraftDiagnostics
import GraftGraph
import GraftTensor
import Testing

@testable import GraftLearning

struct ParameterSelectionTests {
  private let graph: Graph

  init() throws {
    let matrix = try Tensor(zeros: [2, 2])
    graph = Graph(
      inputs: [Feature(name: "x", type: .unknown)], outputs: [Feature(name: "z", type: .unknown)],
      nodes: [
        Node(
          "MatMul", name: "/body/first/MatMul", inputs: ["x", "onnx::MatMul_1"], outputs: ["y"]),
        Node("MatMul", name: "/head/MatMul", inputs: ["y", "head.weight"], outputs: ["z"]),
      ],
      initializers: OrderedTable([
        ("onnx::MatMul_1", matrix), ("head.weight", matrix), ("unused", matrix),
      ]))
  }

  @Test func `a pattern matches whole names of parameters`() throws {
    #expect(
      try ParameterSelection.matching("head\\..*").parameters(of: graph) == ["head.weight"])
    #expect {
      try ParameterSelection.matching("head").parameters(of: graph)
    } throws: {
      "\($0)".contains("'head.*' matches 'head.weight'")
    }
  }

  @Test func `a parameter also answers to its node's name`() throws {
    #expect(
      try ParameterSelection.matching("/body/.*").parameters(of: graph) == ["onnx::MatMul_1"])
  }

  @Test func `after a value come the parameters of the nodes that depend on it`() throws {
    #expect(try ParameterSelection.after("y").parameters(of: graph) == ["head.weight"])
    #expect(throws: GraftError.self) {
      try ParameterSelection.after("nowhere").parameters(of: graph)
    }
  }

  @Test func `a broken expression is an error`() {
    #expect(throws: GraftError.self) {
      try ParameterSelection.matching("head(").parameters(of: graph)
    }
  }
}

struct BatchOrderTests {
  @Test func `batches keep the order and never cross sets`() {
    let order = BatchOrder(exampleCounts: [3, 2], batchSize: 2, shuffleSeed: nil)
    #expect(
      order.batches(epoch: nil) == [
        Batch(set: 0, rows: [0, 1]), Batch(set: 0, rows: [2]), Batch(set: 1, rows: [0, 1]),
      ])
  }

  @Test func `a shuffled epoch holds every example once and repeats for the same seed`() {
    let order = BatchOrder(exampleCounts: [7, 4], batchSize: 3, shuffleSeed: 5)
    let batches = order.batches(epoch: 1)
    #expect(batches == order.batches(epoch: 1))
    #expect(batches != order.batches(epoch: 2))
    for set in 0..<2 {
      let rows = batches.filter { $0.set == set }.flatMap(\.rows).sorted()
      #expect(rows == Array(0..<[7, 4][set]))
    }
  }
}

struct LearningRateScheduleTests {
  @Test func `the warm-up rises linearly and then stays`() {
    let schedule = LearningRateSchedule.linearWarmUp(steps: 4)
    #expect((1...6).map(schedule.factor) == [0.25, 0.5, 0.75, 1, 1, 1])
    #expect((1...3).map(LearningRateSchedule.constant.factor) == [1, 1, 1])
  }
}

struct DetectionScoresTests {
  @Test func `scores that do not overlap have no equal error rate`() {
    let scores = DetectionScores(positives: [0.9, 0.8], negatives: [0.1, 0.2, 0.3])
    #expect(scores.equalErrorRate == 0)
    #expect(scores.accuracy(at: 0.5) == 1)
  }

  /// By hand: at 0.6 one of four positives is missed and one of four negatives accepted.
  @Test func `the equal error rate is where both rates meet`() {
    let scores = DetectionScores(
      positives: [0.9, 0.8, 0.7, 0.4], negatives: [0.1, 0.2, 0.3, 0.6])
    #expect(scores.equalErrorRate == 0.25)
    #expect(scores.accuracy(at: 0.65) == 0.875)
  }

  @Test func `without trials of both kinds there is none`() {
    #expect(DetectionScores(positives: [1]).equalErrorRate == nil)
    #expect(DetectionScores().accuracy(at: 0.5) == nil)
  }
}
