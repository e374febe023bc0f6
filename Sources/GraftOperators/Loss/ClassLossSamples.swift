import GraftGraph
import GraftTensor

/// Samples of both losses over class labels.
enum ClassLossSamples {
  static func all(outputs: Int) -> [OperatorSample] {
    func sample(
      _ name: String, _ attributes: [String: Attribute], _ inputs: [Tensor?],
      error: String? = nil, skipsOracle: Bool = false
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: attributes, inputs: inputs, outputCount: outputs,
        differentiableInputs: [0], error: error, skipsOracle: skipsOracle)
    }
    let scores = Tensor.random([3, 5])
    let labels: Tensor? = .sample([4, 0, 2] as [Int64])
    let map: Tensor? = .random([2, 3, 4])
    let mapLabels: Tensor? = .sample([0, 1, 2, 0, 2, 2, 1, 0] as [Int32], [2, 4])
    let weights: Tensor? = .sample([0.5, 2, 1, 3, 0.25] as [Float])
    return [
      sample("mean", [:], [scores, labels]),
      sample("sum, by place", ["reduction": .string("sum")], [map, mapLabels]),
      sample("none, by place", ["reduction": .string("none")], [map, mapLabels]),
      sample("weights", [:], [scores, labels, weights]),
      sample(
        "weights, one by one", ["reduction": .string("none")], [scores, labels, weights]),
      sample(
        "ignored", ["ignore_index": .int(-100)],
        [scores, .sample([4, -100, 2] as [Int64])]),
      sample(
        "ignored class, weights", ["ignore_index": .int(2), "reduction": .string("mean")],
        [scores, labels, weights]),
      sample(
        "ignored, sum", ["ignore_index": .int(0), "reduction": .string("sum")], [map, mapLabels]),
      sample(
        "all ignored", ["ignore_index": .int(-1)],
        [scores, .sample([-1, -1, -1] as [Int64])], skipsOracle: true),
      sample(
        "picture", [:],
        [.random([1, 2, 3, 2]), .sample([0, 1, 1, 0, 1, 0] as [Int64], [1, 3, 2])]),
      sample(
        "no class", [:], [map, .sample([0, 1, 2, 0, 2, 3, 1, 0] as [Int64], [2, 4])],
        error: "the label at [1, 1] is 3; the 3 classes are 0 to 2"),
      sample(
        "negative", [:], [scores, .sample([0, -1, 0] as [Int64])], error: "the label at [1] is -1"),
      sample(
        "labels by class", [:], [scores, .sample([0, 1, 0] as [Int64], [3, 1])],
        error: "input 1 has shape [3, 1]; it must be [3]"),
      sample(
        "no reduction", ["reduction": .string("max")], [scores, labels],
        error: "reduction is 'max'"),
      sample(
        "misfit of weights", [:], [scores, labels, .random([4])], error: "input 2 has shape [4]"),
    ]
  }
}
