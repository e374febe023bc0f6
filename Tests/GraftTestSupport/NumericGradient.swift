import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// Compares an operator's gradient rule with central differences, in double precision.
///
/// - Returns: what differs, one line per input; empty when all fit.
package func gradientDifferences(_ op: any Operator, _ sample: OperatorSample) throws -> [String] {
  let registry = OperatorRegistry.standard
  let sampleGraph = SampleGraph(op, sample, inDoublePrecision: true)
  let plan = try Plan(sampleGraph.graph, registry: registry)
  var feeds = sampleGraph.feeds
  let outputs = try plan.run(feeds)
  let sources = sample.inputs.indices.filter { index in
    sample.inputs[index]?.elementType.isFloatingPoint == true
      && sample.differentiableInputs?.contains(index) ?? true
  }.map { "x\($0)" }

  // The scalar that is differentiated: every output weighted with fixed random numbers.
  var seeds: [String: String] = [:]
  var weights: [String: [Double]] = [:]
  var graph = sampleGraph.graph
  for index in 0..<sample.outputCount where sample.differentiableOutputs?.contains(index) ?? true {
    guard let output = outputs["y\(index)"], output.elementType == .float64 else { continue }
    var generator = SeededGenerator(seed: UInt64(99 + index))
    let values = (0..<output.elementCount).map { _ in generator.normal() }
    weights["y\(index)"] = values
    seeds["y\(index)"] = "w\(index)"
    feeds["w\(index)"] = try Tensor(values, shape: output.shape)
    graph.inputs.append(Feature(name: "w\(index)", type: .unknown))
  }
  guard !sources.isEmpty, !seeds.isEmpty else { return [] }
  func scalar(_ feeds: [String: Tensor]) throws -> Double {
    let outputs = try plan.run(feeds)
    return try weights.reduce(0) { sum, pair in
      let values = try outputs[pair.key]?.values(as: Double.self) ?? []
      return sum + zip(values, pair.value).reduce(0) { $0 + $1.0 * $1.1 }
    }
  }

  let (backward, gradients) = try graph.differentiated(
    seeds: seeds, withRespectTo: sources, registry: registry)
  let results = try Plan(backward, outputs: Array(gradients.values), registry: registry).run(feeds)
  var differences: [String] = []
  for source in sources {
    guard let input = feeds[source] else { continue }
    let values = try input.values(as: Double.self)
    var numeric = [Double](repeating: 0, count: values.count)
    for index in values.indices {
      let step = 1e-5 * max(1, abs(values[index]))
      var changed = feeds
      var shifted = values
      shifted[index] = values[index] + step
      changed[source] = try Tensor(shifted, shape: input.shape)
      let above = try scalar(changed)
      shifted[index] = values[index] - step
      changed[source] = try Tensor(shifted, shape: input.shape)
      numeric[index] = (above - (try scalar(changed))) / (2 * step)
    }
    let zero = [Double](repeating: 0, count: values.count)
    let expected = try Tensor(numeric, shape: input.shape)
    let actual = try gradients[source].flatMap { results[$0] } ?? Tensor(zero, shape: input.shape)
    let largest = numeric.map(abs).max() ?? 0
    let tolerance = Tolerance(absolute: 1e-7 + 1e-6 * largest, relative: 1e-5)
    if let text = difference(actual, expected, tolerance) {
      differences.append("gradient of input \(source.dropFirst()): \(text)")
    }
  }
  return differences
}
