import GraftGraph
import GraftTensor

extension Graph {
  /// The graph with every Dropout at work: its mask depends on the seed, on the node's place among
  /// the Dropout nodes and on a number fed in.
  ///
  /// - Parameter draw: the name of the input, one int64, that tells runs apart; it is added when
  ///   there is a Dropout with a ratio other than 0.
  package func usingDropout(seed: UInt64, draw: String) -> Graph {
    var graph = withoutDropout
    let seeds = SeededGenerator(seed: seed)
    var count = 0
    for (index, node) in nodes.enumerated() where node.isDropout {
      var generator = seeds.advanced(by: count)
      count += 1
      let ratio = node.inputs.count > 1 ? node.inputs[1] : ""
      if let number = initializers[ratio]?.firstNumber, number == 0 { continue }
      graph.nodes[index].op = "SeededDropout"
      graph.nodes[index].domain = graftDomain
      graph.nodes[index].inputs = [node.inputs.first ?? "", ratio, draw]
      graph.nodes[index].attributes = ["seed": .int(Int(truncatingIfNeeded: generator.next()))]
    }
    if graph.nodes.contains(where: \.isRandom) {
      graph.inputs.append(Feature(name: draw, type: .tensor(.int64, shape: [])))
    }
    return graph
  }

  /// The graph with every Dropout passing its data on.
  package var withoutDropout: Graph {
    var graph = self
    for (index, node) in nodes.enumerated() where node.isDropout {
      graph.nodes[index].inputs = Array(node.inputs.prefix(1))
      graph.nodes[index].attributes = [:]
    }
    return graph
  }
}

extension Node {
  fileprivate var isDropout: Bool { domain.isEmpty && op == "Dropout" }

  /// Whether the result differs from run to run for the same data.
  package var isRandom: Bool { domain == graftDomain && op == "SeededDropout" }
}
