import GraftEngine
import GraftGraph
import GraftLearning
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

private let operators = OperatorRegistry.standard.all.filter(\.domain.isEmpty)

/// Features are computed by as many threads as are free: their bits must not depend on that.
@Test(arguments: operators.map(\.name))
func `an operator gives the same bits on any number of threads`(name: String) throws {
  let op = try #require(operators.first { $0.name == name })
  for sample in op.samples where sample.error == nil {
    let graph = SampleGraph(op, sample)
    let plan = try Plan(graph.graph, registry: .standard, options: .standard)
    let alone = try plan.run(graph.feeds, threads: 1)
    for threads in [2, 3, 5] {
      let shared = try plan.run(graph.feeds, threads: threads)
      for (output, tensor) in alone {
        expectClose(
          shared[output], tensor, Tolerance(absolute: 0, relative: 0),
          "\(name), \(sample.name), \(threads) threads")
      }
    }
  }
}
