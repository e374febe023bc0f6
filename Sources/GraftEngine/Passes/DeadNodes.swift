import GraftGraph

extension Graph {
  /// The nodes that `outputs` need, in order.
  ///
  /// - Parameter givens: values that are there already, so that what makes them is not needed.
  package func nodes(needed outputs: [String], given givens: Set<String> = []) -> [Node] {
    let producers = producers
    var isNeeded = [Bool](repeating: false, count: nodes.count)
    func producer(_ name: String) -> Int? { givens.contains(name) ? nil : producers[name] }
    var pending = outputs.compactMap(producer)
    while let index = pending.popLast() {
      if isNeeded[index] { continue }
      isNeeded[index] = true
      pending += nodes[index].reads.compactMap(producer)
    }
    return nodes.indices.filter { isNeeded[$0] }.map { nodes[$0] }
  }

  /// The graph with `outputs` as its only outputs and without what they do not need.
  ///
  /// - Parameter givens: inner values that become inputs.
  package func pruned(to outputs: [Feature], given givens: [String] = []) -> Graph {
    var graph = self
    graph.nodes = nodes(needed: outputs.map(\.name), given: Set(givens))
    graph.outputs = outputs
    let reads = Set(graph.nodes.flatMap(\.reads)).union(outputs.map(\.name))
    graph.initializers = initializers.filter { name, _ in reads.contains(name) }
    graph.stringInitializers = stringInitializers.filter { name, _ in reads.contains(name) }
    graph.inputs =
      inputs.filter { reads.contains($0.name) }
      + givens.filter(reads.contains).map { Feature(name: $0, type: .unknown) }
    let made = Set(graph.nodes.flatMap(\.outputs))
    graph.innerTypes = innerTypes.filter { name, _ in made.contains(name) }
    return graph
  }
}
