import GraftDiagnostics

extension Graph {
  /// The graph with its nodes in an order in which they can run, after these checks: every value is
  /// defined once, everything read is defined, and no node depends on itself.
  ///
  /// Nodes already in order keep it. Subgraphs are checked too; they may read what is defined around
  /// them before their node, and may give a name of their own to a value of the same name outside.
  ///
  /// - Throws: `damaged` naming the value, and for a cycle the nodes on it.
  /// - Complexity: linear in nodes and names.
  package func verified() throws -> Graph {
    try verified(outside: [])
  }

  fileprivate func verified(outside: Set<String>) throws -> Graph {
    var available = try definedBeforeNodes().union(outside)
    let producers = try uniqueProducers()
    var result = self
    result.nodes = []
    result.nodes.reserveCapacity(nodes.count)
    for index in try runningOrder(producers, outside: available) {
      var node = nodes[index]
      try locating(node.place) { try node.verifySubgraphs(outside: available) }
      result.nodes.append(node)
      available.formUnion(node.outputs)
    }
    for output in outputs where !available.contains(output.name) {
      throw GraftError(.damaged, "nothing makes the output '\(output.name)'")
    }
    return result
  }

  /// The names of inputs and initializers; one name may be both.
  private func definedBeforeNodes() throws -> Set<String> {
    var names: Set<String> = []
    for input in inputs where !names.insert(input.name).inserted {
      throw GraftError(.damaged, "there are two inputs named '\(input.name)'")
    }
    for name in stringInitializers.keys where initializers[name] != nil {
      throw GraftError(.damaged, "there are two initializers named '\(name)'")
    }
    names.formUnion(initializers.keys)
    names.formUnion(stringInitializers.keys)
    return names
  }

  /// For every value that a node makes: the node's index.
  private func uniqueProducers() throws -> [String: Int] {
    let defined = try definedBeforeNodes()
    var producers: [String: Int] = [:]
    for (index, node) in nodes.enumerated() {
      for output in node.outputs where !output.isEmpty {
        guard !defined.contains(output), producers.updateValue(index, forKey: output) == nil else {
          throw GraftError(.damaged, "the value '\(output)' is defined twice", at: [node.place])
        }
      }
    }
    return producers
  }

  /// The nodes' indices, each after those it reads from; the present order where that holds.
  private func runningOrder(_ producers: [String: Int], outside: Set<String>) throws -> [Int] {
    var order: [Int] = []
    order.reserveCapacity(nodes.count)
    var isPlaced = [Bool](repeating: false, count: nodes.count)
    var isPending = isPlaced
    for start in nodes.indices where !isPlaced[start] {
      // The nodes waiting for what they read; each one is read by the one before it.
      var path = [(node: start, needed: try dependencies(of: start, producers, outside))]
      isPending[start] = true
      while let top = path.last {
        guard let next = top.needed.last else {
          order.append(top.node)
          isPlaced[top.node] = true
          path.removeLast()
          continue
        }
        path[path.count - 1].needed.removeLast()
        if isPlaced[next] { continue }
        guard !isPending[next] else { throw cycle(through: next, path.map(\.node)) }
        isPending[next] = true
        path.append((next, try dependencies(of: next, producers, outside)))
      }
    }
    return order
  }

  /// The nodes that node `index` reads from, the first one read last.
  private func dependencies(
    of index: Int, _ producers: [String: Int], _ outside: Set<String>
  ) throws -> [Int] {
    let node = nodes[index]
    var result: [Int] = []
    for name in node.reads.reversed() {
      if let producer = producers[name] {
        result.append(producer)
      } else if !outside.contains(name) {
        throw GraftError(
          .damaged, "it reads '\(name)', which nothing makes", at: [node.place],
          fix: didYouMean(name, among: producers.keys))
      }
    }
    return result
  }

  private func cycle(through node: Int, _ path: [Int]) -> GraftError {
    let onCycle = path.drop { $0 != node } + [node]
    return GraftError(
      .damaged,
      "these nodes wait for each other: "
        + onCycle.map { nodes[$0].place }.joined(separator: " <- "))
  }
}

extension Node {
  fileprivate mutating func verifySubgraphs(outside: Set<String>) throws {
    for (name, attribute) in attributes.sorted(by: { $0.key < $1.key }) {
      switch attribute {
      case .graph(let graph):
        attributes[name] = .graph(
          try locating("attribute '\(name)'") { try graph.verified(outside: outside) })
      case .graphs(let graphs):
        attributes[name] = .graphs(
          try graphs.enumerated().map { index, graph in
            try locating("attribute '\(name)' \(index)") { try graph.verified(outside: outside) }
          })
      default: break
      }
    }
  }
}
