import GraftGraph
import GraftTensor

/// Lets a Reshape to a constant shape read the value that another node before it only gave another
/// shape.
package struct ReshapeMerging: GraphPass {
  package let name = "reshape merging"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    guard graph.nodes.allSatisfy(\.subgraphs.isEmpty) else { return }
    let index = GraphIndex(graph)
    var hasChanged = false
    for (position, node) in graph.nodes.enumerated()
    where node.domain.isEmpty && node.op == "Reshape" && node.inputs.count == 2 {
      // A 0 may stand for a dimension of the value that is read.
      guard let shape = graph.initializers[node.inputs[1]]?.ints, !shape.contains(0) else {
        continue
      }
      while true {
        let value = graph.nodes[position].inputs[0]
        guard let producer = index.producers[value], index.readerCount(of: value) == 1,
          !kept.contains(value)
        else { break }
        let inner = graph.nodes[producer]
        guard registry(inner)?.viewedInput == 0, inner.outputs.count == 1,
          let source = inner.inputs.first, !source.isEmpty
        else { break }
        graph.nodes[position].inputs[0] = source
        hasChanged = true
      }
    }
    if hasChanged { graph = graph.pruned(to: graph.outputs) }
  }
}
