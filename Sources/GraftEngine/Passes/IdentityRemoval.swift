import GraftGraph

/// Takes out nodes that hand on their input unchanged.
package struct IdentityRemoval: GraphPass {
  package let name = "identity removal"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    var sources: [String: String] = [:]
    var nodes: [Node] = []
    for node in graph.nodes {
      var node = node
      node.inputs = node.inputs.map { sources[$0] ?? $0 }
      let isIdentity = node.domain.isEmpty && node.op == "Identity" && node.subgraphs.isEmpty
      if isIdentity, let input = node.inputs.first, node.outputs.count == 1,
        !kept.contains(node.outputs[0])
      {
        sources[node.outputs[0]] = input
      } else {
        nodes.append(node)
      }
    }
    // A graph inside a node may read any value by name: then all stay.
    guard nodes.allSatisfy(\.subgraphs.isEmpty) else { return }
    graph.nodes = nodes
  }
}
