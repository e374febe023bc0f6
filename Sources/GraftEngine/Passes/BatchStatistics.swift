import GraftGraph
import GraftTensor

extension Graph {
  /// A running statistic and the value that takes its place after a training step.
  package struct RunningStatistic: Sendable {
    /// The initializer that holds it.
    package let parameter: String
    /// The value that the training graph computes for it.
    package let update: String
  }

  /// The graph with the chosen batch normalizations normalising by their batch, and the updates of
  /// their running statistics.
  package func usingBatchStatistics(where isChosen: (Node) -> Bool) -> (
    graph: Graph, statistics: [RunningStatistic]
  ) {
    var graph = self
    var statistics: [RunningStatistic] = []
    let names = NameSource(avoiding: valueNames)
    for index in graph.nodes.indices {
      let node = graph.nodes[index]
      guard node.isBatchNormalization, node.inputs.count == 5, let output = node.outputs.first,
        isChosen(node)
      else { continue }
      let updates = node.inputs[3...4].map { names.fresh("\($0)/update") }
      graph.nodes[index].attributes["training_mode"] = .int(1)
      graph.nodes[index].outputs = [output] + updates
      for (parameter, update) in zip(node.inputs[3...4], updates)
      where initializers[parameter] != nil {
        statistics.append(RunningStatistic(parameter: parameter, update: update))
      }
    }
    return (graph, statistics)
  }
}

extension Node {
  package var isBatchNormalization: Bool { domain.isEmpty && op == "BatchNormalization" }

  /// Whether an example's result depends on the rest of its batch.
  package var mixesBatch: Bool {
    guard isBatchNormalization, case .int(1)? = attributes["training_mode"] else { return false }
    return true
  }
}
