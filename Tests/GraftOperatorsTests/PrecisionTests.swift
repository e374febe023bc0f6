import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// Normalizations of values whose mean is a thousand standard deviations from 0, where moments in
/// single precision are wrong: float32 elements against the same elements in double precision.
@Test(arguments: [
  ("InstanceNormalization", [2, 3, 500], [:]),
  ("GroupNormalization", [2, 4, 500], ["num_groups": 2]),
  ("GroupNormalization", [1, 2, 200_000], ["num_groups": 1]),
  ("BatchNormalization", [3, 4, 500], ["training_mode": 1]),
  ("LayerNormalization", [4, 2, 500], [:]),
])
func `a normalization far from 0 is as exact as near it`(
  name: String, dimensions: [Int], attributes: [String: Int]
) throws {
  let op = try #require(OperatorRegistry.standard.all.first { $0.name == name })
  var generator = SeededGenerator(seed: 11)
  func normal(_ shape: Shape, around offset: Double) throws -> Tensor {
    try Tensor(
      (0..<shape.elementCount).map { _ in Float(offset + generator.normal()) }, shape: shape)
  }
  let parameter: Shape = [name == "LayerNormalization" ? dimensions[2] : dimensions[1]]
  var inputs = [try normal(Shape(dimensions), around: 1000)]
  for _ in 1..<op.inputCount.upperBound { inputs.append(try normal(parameter, around: 1)) }
  let sample = OperatorSample(
    "far from 0", attributes: attributes.mapValues { .int($0) }, inputs: inputs)
  func run(inDoublePrecision: Bool) throws -> [Double] {
    let sample = SampleGraph(op, sample, inDoublePrecision: inDoublePrecision)
    let results = try Plan(sample.graph, registry: .standard).run(sample.feeds)
    return try #require(results["y0"]?.doubles)
  }
  let expected = try run(inDoublePrecision: true)
  for (index, value) in try run(inDoublePrecision: false).enumerated() {
    let allowed = 1e-6 * (1 + abs(expected[index]))
    guard abs(value - expected[index]) <= allowed else {
      Issue.record("\(name), element \(index): \(value), not \(expected[index])")
      return
    }
  }
}
