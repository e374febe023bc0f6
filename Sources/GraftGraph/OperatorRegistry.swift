import GraftDiagnostics

/// Operators by domain and name.
package struct OperatorRegistry: Sendable {
  private let table: [String: any Operator]

  package init(_ operators: [any Operator]) {
    table = Dictionary(operators.map { ($0.qualifiedName, $0) }) { first, _ in first }
  }

  package var all: [any Operator] { table.values.sorted { $0.qualifiedName < $1.qualifiedName } }

  /// The operator of a node; nil when Graft does not have it.
  package func callAsFunction(_ node: Node) -> (any Operator)? { table[node.qualifiedOp] }

  /// The operators that `graph` and its subgraphs use and Graft does not have, with their counts.
  package func unsupported(in graph: Graph) -> [(op: String, count: Int)] {
    var counts: [String: Int] = [:]
    func visit(_ graph: Graph) {
      for node in graph.nodes {
        if self(node) == nil { counts[node.qualifiedOp, default: 0] += 1 }
        node.subgraphs.forEach(visit)
      }
    }
    visit(graph)
    return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
