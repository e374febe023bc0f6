import GraftGraph
import GraftTensor

/// The samples of GRU and RNN: three steps of a batch of two with four inputs and three hidden units,
/// unless said otherwise.
///
/// - Parameters:
///   - activations: other ones than the default, for one direction.
///   - attributes: of all samples.
func recurrentSamples(
  gates: Int, activations: [String], _ attributes: [String: Attribute] = [:]
) -> [OperatorSample] {
  let x = Tensor.random([3, 2, 4])
  func w(_ directions: Int = 1) -> Tensor? { .random([directions, gates * 3, 4], seed: 1) }
  func r(_ directions: Int = 1) -> Tensor? { .random([directions, gates * 3, 3], seed: 2) }
  func b(_ directions: Int = 1) -> Tensor? { .random([directions, gates * 6], seed: 3) }
  func state(_ directions: Int = 1) -> Tensor? { .random([directions, 2, 3], seed: 4) }
  let all = attributes.merging(["hidden_size": .int(3)]) { $1 }
  func with(_ more: [String: Attribute]) -> [String: Attribute] { all.merging(more) { $1 } }
  let suffix = attributes.keys.sorted().map { ", \($0)" }.joined()
  let samples = [
    OperatorSample("plain", attributes: all, inputs: [x, w(), r()]),
    OperatorSample(
      "bias, all outputs", attributes: all, inputs: [x, w(), r(), b()], outputCount: 2),
    OperatorSample(
      "initial state, reverse", attributes: with(["direction": .string("reverse")]),
      inputs: [x, w(), r(), b(), nil, state()], outputCount: 2),
    OperatorSample(
      "everything, both directions", attributes: with(["direction": .string("bidirectional")]),
      inputs: [x, w(2), r(2), b(2), .sample([2, 3] as [Int32]), state(2)], outputCount: 2),
    OperatorSample(
      "an empty sequence", attributes: all,
      inputs: [x, w(), r(), b(), .sample([0, 2] as [Int32]), state()], outputCount: 2),
    OperatorSample(
      "batch first, both directions",
      attributes: with(["direction": .string("bidirectional"), "layout": .int(1)]),
      inputs: [
        .random([2, 3, 4]), w(2), r(2), b(2), .sample([3, 1] as [Int32]), .random([2, 2, 3]),
      ], outputCount: 2, skipsOracle: true),
    OperatorSample(
      "clip", attributes: with(["clip": .float(0.7)]),
      inputs: [x, w(), r(), b(), nil, state()], outputCount: 2),
    OperatorSample(
      "other activations",
      attributes: with([
        "activations": .strings(activations.map { Array($0.utf8) }),
        "activation_alpha": .floats([0.3, 0.05]), "activation_beta": .floats([0.4]),
      ]), inputs: [x, w(), r(), b()], outputCount: 2),
    OperatorSample(
      "batch of nine", attributes: with(["hidden_size": .int(5)]),
      inputs: [
        .random([4, 9, 2]), .random([1, gates * 5, 2]), .random([1, gates * 5, 5]),
      ], outputCount: 2),
    OperatorSample(
      "batch misfit", attributes: all, inputs: [x, w(), r(), nil, .sample([1] as [Int32])],
      error: "input sequence_lens has shape [1]"),
    OperatorSample(
      "activations misfit",
      attributes: with(["activations": .strings([[UInt8]](repeating: Array("Tanh".utf8), count: 5))]
      ),
      inputs: [x, w(), r()], error: "'activations' names 5 functions"),
  ]
  return samples.map { sample in
    var sample = sample
    sample.name += suffix
    return sample
  }
}

/// The samples of the gradient operators of GRU and RNN.
func recurrentGradientSamples(gates: Int) -> [OperatorSample] {
  let inputs: [Tensor?] = [
    .random([3, 2, 4]), .random([1, gates * 3, 4]), .random([1, gates * 3, 3]), nil, nil, nil,
  ]
  return [
    OperatorSample("from Y_h", inputs: inputs + [nil, .random([1, 2, 3])], outputCount: 3),
    OperatorSample(
      "misfit", inputs: inputs + [.random([3, 2, 3])], error: "the gradient has shape [3, 2, 3]"),
  ]
}
