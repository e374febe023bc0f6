import GraftGraph
import GraftOperators

/// Makes one node of softmax(s * Q K + M) V, the heart of a transformer's layer. K is what the product
/// reads, so transposed already; the factor may stand before or behind it.
package struct AttentionFusion: GraphPass {
  package let name = "attention fusion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    var replaced: [Int: Node] = [:]
    for node in graph.nodes where node.op == "Softmax" && node.domain.isEmpty {
      guard let (end, attention) = Self.attention(around: node, index, kept) else { continue }
      replaced[end] = attention
    }
    // The other nodes of the pattern have no readers left.
    for (position, node) in replaced { graph.nodes[position] = node }
    if !replaced.isEmpty { graph = graph.pruned(to: graph.outputs) }
  }

  /// The position of the last node and the Attention that takes its place.
  private static func attention(around softmax: Node, _ index: GraphIndex, _ kept: Set<String>) -> (
    Int, Node
  )? {
    guard (try? softmax.int("axis", default: -1)) == -1,
      isInner(softmax.outputs[0], index, kept),
      let end = index.onlyReader(of: softmax.outputs[0], "MatMul"),
      end.node.inputs[0] == softmax.outputs[0], end.node.inputs[1] != softmax.outputs[0]
    else { return nil }
    var mask: String?
    var scores = scaledProduct(softmax.inputs[0], index, kept)
    if scores == nil, isInner(softmax.inputs[0], index, kept),
      let sum = index.producer(of: softmax.inputs[0], "Add")
    {
      for (value, other) in zip(sum.node.inputs, sum.node.inputs.reversed()) where scores == nil {
        scores = scaledProduct(value, index, kept)
        mask = other
      }
    }
    guard let scores else { return nil }
    let inputs = scores.node.inputs + [end.node.inputs[1]] + (mask.map { [$0] } ?? [])
    return (
      end.index,
      Node(
        "Attention", domain: graftDomain, name: end.node.name, inputs: inputs,
        outputs: end.node.outputs, attributes: ["scale": .float(Float(scores.factor))])
    )
  }

  /// The matrix product that makes a value, with a constant factor on it or on its left operand.
  private static func scaledProduct(_ value: String, _ index: GraphIndex, _ kept: Set<String>) -> (
    node: Node, factor: Double
  )? {
    let (inner, factor) = scaled(value, index, kept)
    guard isInner(inner, index, kept), var node = index.producer(of: inner, "MatMul")?.node,
      node.inputs[0] != node.inputs[1]
    else { return nil }
    let (left, leftFactor) = scaled(node.inputs[0], index, kept)
    node.inputs[0] = left
    return (node, factor * leftFactor)
  }

  /// What is multiplied by a constant number to make a value that nobody else reads; else the value.
  private static func scaled(_ value: String, _ index: GraphIndex, _ kept: Set<String>) -> (
    value: String, factor: Double
  ) {
    guard isInner(value, index, kept) else { return (value, 1) }
    if let product = index.producer(of: value, "Mul")?.node,
      let place = [1, 0].first(where: { isNumber(product.inputs[$0], index) }),
      let number = index.scalar(product.inputs[place])
    {
      return (product.inputs[1 - place], number)
    }
    if let quotient = index.producer(of: value, "Div")?.node,
      isNumber(quotient.inputs[1], index), let number = index.scalar(quotient.inputs[1])
    {
      return (quotient.inputs[0], 1 / number)
    }
    return (value, 1)
  }

  /// Whether a value is a constant number that does not change the shape of what it meets.
  private static func isNumber(_ value: String, _ index: GraphIndex) -> Bool {
    guard let number = index.scalar(value), abs(number) > 0x1p-16, abs(number) < 0x1p16 else {
      return false
    }
    return index.graph.initializers[value]?.shape.rank ?? 2 <= 1
  }

  private static func isInner(_ value: String, _ index: GraphIndex, _ kept: Set<String>) -> Bool {
    index.readerCount(of: value) == 1 && !kept.contains(value)
  }
}
