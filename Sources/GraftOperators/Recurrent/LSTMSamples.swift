import GraftGraph
import GraftTensor

/// Three steps of a batch of two with four inputs and three hidden units, unless said otherwise.
let lstmSamples: [OperatorSample] = {
  let x = Tensor.random([3, 2, 4])
  func w(_ directions: Int = 1) -> Tensor? { .random([directions, 12, 4], seed: 1) }
  func r(_ directions: Int = 1) -> Tensor? { .random([directions, 12, 3], seed: 2) }
  func b(_ directions: Int = 1) -> Tensor? { .random([directions, 24], seed: 3) }
  func state(_ directions: Int = 1, seed: UInt64) -> Tensor? {
    .random([directions, 2, 3], seed: seed)
  }
  func p(_ directions: Int = 1) -> Tensor? { .random([directions, 9], seed: 6) }
  let size: [String: Attribute] = ["hidden_size": .int(3)]
  func with(_ attributes: [String: Attribute]) -> [String: Attribute] {
    size.merging(attributes) { $1 }
  }
  return [
    OperatorSample("plain", attributes: size, inputs: [x, w(), r()]),
    OperatorSample(
      "bias, all outputs", attributes: size, inputs: [x, w(), r(), b()], outputCount: 3),
    OperatorSample(
      "initial states, reverse", attributes: with(["direction": .string("reverse")]),
      inputs: [x, w(), r(), b(), nil, state(seed: 4), state(seed: 5)], outputCount: 3),
    OperatorSample(
      "everything, both directions", attributes: with(["direction": .string("bidirectional")]),
      inputs: [
        x, w(2), r(2), b(2), .sample([2, 3] as [Int32]), state(2, seed: 4), state(2, seed: 5), p(2),
      ], outputCount: 3),
    OperatorSample(
      "an empty sequence", attributes: size,
      inputs: [x, w(), r(), b(), .sample([0, 2] as [Int32]), state(seed: 4), state(seed: 5)],
      outputCount: 3),
    OperatorSample(
      "batch first, both directions",
      attributes: with(["direction": .string("bidirectional"), "layout": .int(1)]),
      inputs: [
        .random([2, 3, 4]), w(2), r(2), b(2), .sample([3, 1] as [Int32]), .random([2, 2, 3]),
        .random([2, 2, 3], seed: 1), p(2),
      ], outputCount: 3, skipsOracle: true),
    OperatorSample(
      "clip", attributes: with(["clip": .float(0.7)]),
      inputs: [x, w(), r(), b(), nil, state(seed: 4), state(seed: 5), p()], outputCount: 3),
    OperatorSample(
      "cells kept within a bound", attributes: with(["graft_cell_clip": .float(0.2)]),
      inputs: [x, w(), r(), b(), nil, state(seed: 4), state(seed: 5), p()], outputCount: 3,
      skipsOracle: true),
    OperatorSample(
      "other activations",
      attributes: with([
        "activations": .strings(["HardSigmoid", "LeakyRelu", "Softsign"].map { Array($0.utf8) }),
        "activation_alpha": .floats([0.3, 0.05]), "activation_beta": .floats([0.4]),
      ]), inputs: [x, w(), r(), b()], outputCount: 3),
    OperatorSample(
      "batch of nine", attributes: ["hidden_size": .int(5)],
      inputs: [.random([4, 9, 2]), .random([1, 20, 2]), .random([1, 20, 5])], outputCount: 2),
    OperatorSample(
      "float64", attributes: ["hidden_size": .int(1)],
      inputs: [
        .sample([1, -1] as [Double], [2, 1, 1]), .sample([1, 2, 3, 4] as [Double], [1, 4, 1]),
        .sample([1, 0, -1, 0.5] as [Double], [1, 4, 1]),
      ], outputCount: 3, skipsOracle: true),
    OperatorSample(
      "no such direction", attributes: with(["direction": .string("sideways")]),
      inputs: [x, w(), r()], error: "'direction' is 'sideways'"),
    OperatorSample(
      "weights misfit", attributes: size, inputs: [x, r(), r()], error: "input W has"),
    OperatorSample(
      "too many steps", attributes: size, inputs: [x, w(), r(), nil, .sample([4, 1] as [Int32])],
      error: "sequence_lens is [4, 1]; there are 3 steps"),
    OperatorSample(
      "coupled gates", attributes: with(["input_forget": .int(1)]), inputs: [x, w(), r()],
      error: "'input_forget' is 1"),
    OperatorSample(
      "no such activation",
      attributes: with([
        "activations": .strings(["Sigmoid", "Tanh", "Sine"].map { Array($0.utf8) })
      ]), inputs: [x, w(), r()], error: "there is no activation 'Sine'"),
  ]
}()
