import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// Made with PyTorch by make.py in that folder.
nonisolated(unsafe) private let golden = Result {
  try GoldenFile(stem: SharedData.project.appending(path: "Tests/OptimizerGoldens/optimizers").path)
}

private let cases: [OptimizerCase] = {
  guard let list = try? golden.get().manifest["cases"] as? [[String: Any]] else { return [] }
  return list.map(OptimizerCase.init)
}()

/// One optimizer with options.
private struct OptimizerCase: CustomTestStringConvertible, @unchecked Sendable {
  let table: [String: Any]

  var name: String { table["name"] as? String ?? "" }
  var testDescription: String { name }
  var rates: [Float] { (table["rates"] as? [Double] ?? []).map(Float.init) }

  func number(_ key: String) -> Float? { (table[key] as? Double).map(Float.init) }

  func optimizer() throws -> Optimizer {
    let data = try JSONSerialization.data(withJSONObject: try #require(table["optimizer"]))
    return try JSONDecoder().decode(Optimizer.self, from: data)
  }

  func update(_ optimizer: Optimizer, parameters: [String]) throws -> OptimizerUpdate {
    var groups: [String: ParameterGroup] = [:]
    for group in table["groups"] as? [[String: Any]] ?? [] {
      for parameter in group["parameters"] as? [String] ?? [] {
        groups[parameter] = ParameterGroup(
          selection: .all,
          learningRateFactor: Float(try #require(group["learningRateFactor"] as? Double)),
          weightDecay: (group["weightDecay"] as? Double).map(Float.init))
      }
    }
    return try OptimizerUpdate(
      optimizer, parameters: parameters, clipNorm: number("clip_norm"),
      clipValue: number("clip_value"), groups: groups)
  }
}

struct OptimizerTests {
  @Test func `the golden cases are there`() throws {
    #expect(cases.count >= 28)
    #expect(cases.allSatisfy { $0.rates.count == 12 })
  }

  @Test(arguments: cases)
  private func `every step gives PyTorch's parameters, in double and single precision`(
    _ test: OptimizerCase
  ) throws {
    try compare(test, Tolerance(absolute: 1e-13, relative: 1e-11)) { $0 }
    try compare(test, Tolerance(absolute: 2e-7, relative: 1e-6)) { try $0.inSinglePrecision() }
  }

  private func compare(
    _ test: OptimizerCase, _ tolerance: Tolerance, _ converted: (Tensor) throws -> Tensor
  ) throws {
    let file = try golden.get()
    let optimizer = try test.optimizer()
    try optimizer.check()
    let update = try test.update(optimizer, parameters: ["w", "b"])
    var values = try file.tensors(after: "start/").mapValues(converted)
    let gradients = try file.tensors(after: "gradients/").mapValues(converted)
    let expected = try file.tensors(after: test.name + "/").mapValues(converted)
    let norms = try #require(file.tensors["norms"]?.doubles)
    var state: [String: Tensor] = [:]
    for (index, rate) in test.rates.enumerated() {
      let norm = try update.apply(
        to: &values, gradients: try gradients.mapValues { try $0.row(index) }, state: &state,
        learningRate: rate, step: index + 1, threads: 1)
      #expect(abs(norm - norms[index]) <= 1e-6 * norms[index])
      for name in ["w", "b"] {
        expectClose(
          values[name], try expected[name]?.row(index), tolerance,
          "\(test.name), \(name) after step \(index + 1)")
      }
    }
    #expect(Set(state.keys) == Set(update.stateNames))
  }

  @Test(arguments: [
    (Optimizer.sgd(), []),
    (.sgd(momentum: 0.9), ["momentum"]),
    (.adam(), ["moment1", "moment2"]),
    (.adamW(), ["moment1", "moment2"]),
    (.adamW(form: .pyTorch), ["moment1", "moment2"]),
    (.rmsProp(), ["squareAverage"]),
    (.rmsProp(momentum: 0.5, centered: true), ["squareAverage", "gradientAverage", "momentum"]),
    (.adagrad(), ["squareSum"]),
  ])
  func `what is kept between steps is named by kind and parameter`(
    optimizer: Optimizer, kinds: [String]
  ) throws {
    let update = try OptimizerUpdate(optimizer, parameters: ["fc.weight", "fc.bias"])
    let expected = ["fc.weight", "fc.bias"].flatMap { name in kinds.map { "\($0)/\(name)" } }
    #expect(update.stateNames == expected)
  }

  @Test func `an interrupted sequence of steps goes on from the kept state to the same bits`()
    throws
  {
    let optimizer = Optimizer.rmsProp(momentum: 0.5, centered: true)
    let gradients = ["p": try Tensor([0.5, -1, 2] as [Float])]
    var whole = (values: ["p": try Tensor([1, 2, 3] as [Float])], state: [String: Tensor]())
    var half = whole
    for step in 1...6 {
      try OptimizerUpdate(optimizer, parameters: ["p"]).apply(
        to: &half.values, gradients: gradients, state: &half.state, learningRate: 0.1, step: step,
        threads: 1)
    }
    let update = try OptimizerUpdate(optimizer, parameters: ["p"])
    for step in 1...6 {
      try update.apply(
        to: &whole.values, gradients: gradients, state: &whole.state, learningRate: 0.1, step: step,
        threads: 2)
    }
    #expect(whole.values["p"]?.doubles == half.values["p"]?.doubles)
  }

  @Test func `parameters of two types share one norm`() throws {
    let update = try OptimizerUpdate(.sgd(learningRate: 1), parameters: ["a", "b"], clipNorm: 1)
    var values = ["a": try Tensor([0] as [Float]), "b": try Tensor([0] as [Double])]
    var state: [String: Tensor] = [:]
    let norm = try update.apply(
      to: &values, gradients: ["a": Tensor([3] as [Float]), "b": Tensor([4] as [Double])],
      state: &state, learningRate: 1, step: 1, threads: 1)
    #expect(norm == 5)
    #expect(abs((values["a"]?.doubles?[0] ?? 0) + 0.6) < 1e-6)
    #expect(abs((values["b"]?.doubles?[0] ?? 0) + 0.8) < 1e-6)
  }

  @Test(arguments: [
    (Optimizer.sgd(learningRate: 0), "the learning rate is 0.0"),
    (.sgd(learningRate: .infinity), "the learning rate is inf"),
    (.sgd(weightDecay: -1), "the weight decay is -1.0"),
    (.sgd(momentum: .nan), "the momentum is nan"),
    (.sgd(momentum: 0, nesterov: true), "Nesterov's form has momentum 0.0"),
    (.sgd(momentum: 0.9, dampening: 0.1, nesterov: true), "and dampening 0.1"),
    (.adam(beta1: 1), "beta1 is 1.0"),
    (.adamW(beta2: -0.1), "beta2 is -0.1"),
    (.adam(epsilon: 0), "epsilon is 0.0"),
    (.rmsProp(alpha: 1.5), "alpha is 1.5"),
    (.rmsProp(momentum: -0.5), "the momentum is -0.5"),
    (.adagrad(rateDecay: -1), "the decay of the rate is -1.0"),
    (.adagrad(initialAccumulator: -1), "the accumulator's first value is -1.0"),
  ])
  func `a number out of its range is refused`(optimizer: Optimizer, text: String) {
    #expect {
      try optimizer.check()
    } throws: {
      "\($0)".contains(text) && "\($0)".contains("Choose")
    }
  }

  @Test func `an optimizer survives being stored`() throws {
    var optimizers: [Optimizer] = [
      .sgd(momentum: 0.9, nesterov: true), .adam(), .adamW(), .adamW(form: .pyTorch),
      .rmsProp(centered: true), .adagrad(),
    ]
    optimizers[0].l1 = 0.1
    let data = try JSONEncoder().encode(optimizers)
    #expect(try JSONDecoder().decode([Optimizer].self, from: data) == optimizers)
  }
}

struct ParameterGroupTests {
  private let graph = Graph(
    nodes: [Node("Gemm", name: "fc", inputs: ["x", "fc.weight", "fc.bias"], outputs: ["y"])],
    initializers: OrderedTable(
      [
        ("fc.weight", try? Tensor(zeros: [2, 2])), ("fc.bias", try? Tensor(zeros: [2])),
      ].compactMap { name, tensor in tensor.map { (name, $0) } }))

  @Test func `the first group that chooses a parameter has it`() throws {
    let groups = [
      ParameterGroup(selection: .matching(".*bias"), weightDecay: 0),
      ParameterGroup(selection: .all, learningRateFactor: 0.5),
    ]
    let assigned = try ParameterGroup.assignment(
      of: groups, trainable: ["fc.weight", "fc.bias"], in: graph)
    #expect(assigned["fc.bias"]?.weightDecay == 0)
    #expect(assigned["fc.bias"]?.learningRateFactor == 1)
    #expect(assigned["fc.weight"]?.learningRateFactor == 0.5)
  }

  @Test func `a group of frozen parameters is refused`() {
    #expect {
      try ParameterGroup.assignment(
        of: [ParameterGroup(selection: .matching("fc.bias"))], trainable: ["fc.weight"], in: graph)
    } throws: {
      "\($0)".contains("group 1: none of the group's parameters trains: fc.bias")
    }
  }

  @Test func `numbers out of their range are refused`() {
    #expect(throws: GraftError.self) {
      try ParameterGroup(selection: .all, learningRateFactor: -1).check()
    }
    #expect(throws: GraftError.self) {
      try ParameterGroup(selection: .all, weightDecay: .nan).check()
    }
  }
}

extension Tensor {
  /// The values at one index of the first axis.
  fileprivate func row(_ index: Int) throws -> Tensor {
    try rows(index..<index + 1).reshaped(to: Shape(Array(shape.dropFirst())))
  }

  fileprivate func inSinglePrecision() throws -> Tensor {
    try Tensor(values(as: Double.self).map(Float.init), shape: shape)
  }
}
