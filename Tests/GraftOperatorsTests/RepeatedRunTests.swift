import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

private let operators = OperatorRegistry.standard.all

/// Kernels keep what they found out about their operands; it must not outlive these.
@Test(arguments: operators.map(\.qualifiedName))
func `a plan that ran before gives what a new plan gives`(name: String) throws {
  let op = try #require(operators.first { $0.qualifiedName == name })
  for sample in op.samples where sample.error == nil {
    let sampleGraph = SampleGraph(op, sample)
    let other = try sampleGraph.feeds.mapValues(reversed)
    let plan = try Plan(sampleGraph.graph, registry: .standard)
    _ = try plan.run(sampleGraph.feeds)
    _ = try plan.run(sampleGraph.feeds)
    let fresh = try? Plan(sampleGraph.graph, registry: .standard).run(other)
    let again = try? plan.run(other)
    #expect(
      (fresh == nil) == (again == nil), "\(name), \(sample.name): only one of two runs fails")
    for (output, tensor) in fresh ?? [:] {
      expectClose(
        again?[output], tensor, Tolerance(absolute: 0, relative: 0),
        "\(name), \(sample.name), output \(output)")
    }
  }
}

/// A tensor of the same type and shape with the elements in reverse order.
private func reversed(_ tensor: Tensor) throws -> Tensor {
  guard let size = tensor.elementType.byteCount(elements: 1), size > 0 else { return tensor }
  let copy = try Tensor(uninitialized: tensor.shape, tensor.elementType)
  for index in 0..<tensor.elementCount {
    let source = tensor.bytes + (tensor.elementCount - 1 - index) * size
    (copy.mutableBytes + index * size).copyMemory(from: source, byteCount: size)
  }
  return copy
}
