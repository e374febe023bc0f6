#if canImport(GraftOneDNN)
  import GraftDiagnostics
  import GraftEngine
  import GraftGraph
  import GraftOneDNN
  import GraftOperators
  import GraftTensor
  import GraftTestSupport
  import Testing

  private let operators = OperatorRegistry.standard.all

  /// Accelerated kernels against the portable ones, which define what is right.
  @Test(arguments: operators.map(\.qualifiedName))
  func `an accelerated kernel gives what the portable one gives`(name: String) throws {
    let op = try #require(operators.first { $0.qualifiedName == name })
    for sample in op.samples where sample.error == nil {
      let sampleGraph = SampleGraph(op, sample)
      let portable = try Plan(sampleGraph.graph, registry: .standard).run(sampleGraph.feeds)
      let accelerated = try Plan(
        sampleGraph.graph, registry: .standard,
        options: PlanOptions(providers: [OneDNNProvider()])
      ).run(sampleGraph.feeds)
      for (output, tensor) in portable {
        let largest = tensor.doubles?.lazy.filter(\.isFinite).map(abs).max() ?? 0
        expectClose(
          accelerated[output], tensor, Tolerance(absolute: 1e-5 * largest, relative: 1e-4),
          "\(name), \(sample.name), output \(output)")
      }
    }
  }
#endif
