import GraftGraph

/// Makes one Gelu of x * (1 + erf(x / sqrt 2)) / 2, which exporters write as five nodes.
package struct GeluFusion: GraphPass {
  package let name = "Gelu fusion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    var replaced: [Int: Node] = [:]
    for (position, node) in graph.nodes.enumerated() where node.op == "Erf" && node.domain.isEmpty {
      if let (end, gelu) = Self.gelu(around: node, index, kept), position < end {
        replaced[end] = gelu
      }
    }
    // The other nodes of the pattern have no readers left.
    for (position, node) in replaced { graph.nodes[position] = node }
    if !replaced.isEmpty { graph = graph.pruned(to: graph.outputs) }
  }

  /// The position of the last node and the Gelu that takes its place.
  private static func gelu(around erf: Node, _ index: GraphIndex, _ kept: Set<String>) -> (
    Int, Node
  )? {
    guard let x = argument(of: erf, index),
      let sum = index.onlyReader(of: erf.outputs[0], "Add"),
      index.split(sum.node, where: { isNear($0, 1) }) == erf.outputs[0],
      var product = index.onlyReader(of: sum.node.outputs[0], "Mul")
    else { return nil }
    // x * ((1 + erf) / 2): the half comes between.
    var term = sum.node.outputs[0]
    var isHalved = false
    if index.split(product.node, where: { isNear($0, 0.5) }) == term,
      let next = index.onlyReader(of: product.node.outputs[0], "Mul")
    {
      (term, product, isHalved) = (product.node.outputs[0], next, true)
    }
    let inner = [erf.outputs[0], sum.node.outputs[0], term]
    guard !inner.contains(where: kept.contains) else { return nil }
    let factor = product.node.inputs.first { $0 != term } ?? ""
    func made(_ last: (index: Int, node: Node)) -> (Int, Node) {
      (
        last.index,
        Node(
          "Gelu", name: last.node.name, inputs: [x], outputs: last.node.outputs,
          attributes: ["approximate": .string(Array("none".utf8))])
      )
    }
    if isHalved { return factor == x ? made(product) : nil }
    // (x / 2) * (1 + erf): the half comes before.
    if let half = index.producer(of: factor, "Mul"),
      index.split(half.node, where: { isNear($0, 0.5) }) == x
    {
      return made(product)
    }
    // x * (1 + erf), halved behind.
    guard factor == x, !kept.contains(product.node.outputs[0]),
      let half = index.onlyReader(of: product.node.outputs[0], "Mul"),
      index.split(half.node, where: { isNear($0, 0.5) }) == product.node.outputs[0]
    else { return nil }
    return made(half)
  }

  /// x, when the node computes erf(x / sqrt 2).
  private static func argument(of erf: Node, _ index: GraphIndex) -> String? {
    guard let input = erf.inputs.first else { return nil }
    let root = 2.0.squareRoot()
    if let division = index.producer(of: input, "Div"), division.node.inputs.count == 2,
      let divisor = index.scalar(division.node.inputs[1]), isNear(divisor, root)
    {
      return division.node.inputs[0]
    }
    if let product = index.producer(of: input, "Mul") {
      return index.split(product.node) { isNear($0, 1 / root) }
    }
    return nil
  }
}
