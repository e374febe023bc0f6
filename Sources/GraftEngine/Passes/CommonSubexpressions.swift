import GraftGraph
import GraftTensor

/// Keeps one of several nodes that compute the same from the same values.
package struct CommonSubexpressions: GraphPass {
  package let name = "common subexpressions"

  private struct Key: Hashable {
    let op: String
    let inputs: [String]
    let attributes: String
  }

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    guard graph.nodes.allSatisfy(\.subgraphs.isEmpty) else { return }
    var sources: [String: String] = [:]
    var seen: [Key: [String]] = [:]
    var nodes: [Node] = []
    for node in graph.nodes {
      var node = node
      node.inputs = node.inputs.map { sources[$0] ?? $0 }
      guard let attributes = Self.text(node.attributes),
        !node.outputs.contains(where: kept.contains)
      else {
        nodes.append(node)
        continue
      }
      let key = Key(op: node.qualifiedOp, inputs: node.inputs, attributes: attributes)
      if let first = seen[key], first.count == node.outputs.count,
        zip(first, node.outputs).allSatisfy({ $0.isEmpty == $1.isEmpty })
      {
        for (name, other) in zip(first, node.outputs) where !other.isEmpty { sources[other] = name }
      } else {
        seen[key] = node.outputs
        nodes.append(node)
      }
    }
    graph.nodes = nodes
  }

  /// The attributes in a form to compare; nil when one of them is too large for that.
  private static func text(_ attributes: [String: Attribute]) -> String? {
    var text = ""
    for (name, attribute) in attributes.sorted(by: { $0.key < $1.key }) {
      switch attribute {
      case .int(let value): text += "\(name)=\(value);"
      case .float(let value): text += "\(name)=\(value.bitPattern);"
      case .string(let value): text += "\(name)=\(value);"
      case .ints(let values): text += "\(name)=\(values);"
      case .floats(let values): text += "\(name)=\(values.map(\.bitPattern));"
      default: return nil
      }
    }
    return text
  }
}
