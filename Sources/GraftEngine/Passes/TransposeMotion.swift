import GraftGraph
import GraftOperators
import GraftTensor

/// Moves each Transpose behind the nodes that read it, as far as they can work on what it reads. Two
/// that meet become one; they disappear where they cancel each other.
///
/// Networks whose pictures have their channels last, such as TensorFlow's, are full of pairs with
/// activations, additions, joins and padding between them.
package struct TransposeMotion: GraphPass {
  package let name = "transpose motion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    guard graph.nodes.allSatisfy(\.subgraphs.isEmpty), graph.nodes.contains(where: \.isTranspose)
    else { return }
    var motion = Motion(graph, kept, registry)
    for node in graph.nodes { try motion.visit(node) }
    if motion.hasChanged { graph = motion.result.pruned(to: graph.outputs) }
  }
}

private struct Motion {
  private(set) var hasChanged = false
  private var graph: Graph
  private let kept: Set<String>
  private let registry: OperatorRegistry
  private let names: NameSource
  private var nodes: [Node] = []
  /// How many nodes that were not visited yet, or stay as they are, read a value.
  private var readerCounts: [String: Int] = [:]
  /// Values that are others now.
  private var others: [String: String] = [:]
  /// Values that are transposed ones of others.
  private var transposed: [String: Transposed] = [:]

  init(_ graph: Graph, _ kept: Set<String>, _ registry: OperatorRegistry) {
    self.graph = graph
    self.kept = kept
    self.registry = registry
    names = NameSource(avoiding: graph.valueNames)
    for name in graph.nodes.flatMap(\.reads) { readerCounts[name, default: 0] += 1 }
  }

  var result: Graph {
    var result = graph
    result.nodes = nodes
    return result
  }

  mutating func visit(_ original: Node) throws {
    var node = original
    node.inputs = node.inputs.map { others[$0] ?? $0 }
    if node.isTranspose {
      visitTranspose(node)
    } else if let order = commonOrder(node), let op = registry(node),
      let rule = TransposedNode(node, op, order, graph.initializers, isMoved: isMoved)
    {
      try move(rule, node, order)
    } else {
      nodes.append(node)
    }
  }

  private mutating func visitTranspose(_ node: Node) {
    let (input, output) = (node.inputs[0], node.outputs[0])
    guard var order = AxisOrder(node) else { return nodes.append(node) }
    var source = input
    if let earlier = transposed[input], let both = earlier.order.then(order) {
      order = both
      source = earlier.source
      hasChanged = true
      readerCounts[input, default: 0] -= 1
      readerCounts[source, default: 0] += 1
    }
    guard order.isIdentity else {
      return append(transposing: source, order, to: output, name: node.name)
    }
    hasChanged = true
    if !kept.contains(output) {
      others[output] = source
      readerCounts[source, default: 0] += (readerCounts[output] ?? 0) - 1
    } else if let maker = nodes.firstIndex(where: { $0.outputs.contains(source) }),
      !kept.contains(source)
    {
      rename(source, to: output, from: maker)
    } else {
      nodes.append(Node("Identity", name: node.name, inputs: [source], outputs: [output]))
    }
  }

  /// The order in which all values are transposed that the node reads and that are no constants, if
  /// moving it leaves no more transpositions than there are.
  private func commonOrder(_ node: Node) -> AxisOrder? {
    let variables = node.inputs.filter { !$0.isEmpty && graph.initializers[$0] == nil }
    guard let order = variables.first.flatMap({ transposed[$0]?.order }),
      variables.allSatisfy({ transposed[$0]?.order == order }),
      // Values of different ranks meet otherwise when both are reversed.
      order.axes != nil || Set(variables).count == 1,
      variables.contains(where: { value in
        !kept.contains(value) && readerCounts[value] == node.inputs.count { $0 == value }
      })
    else { return nil }
    return order
  }

  private func isMoved(_ value: String) -> Bool { transposed[value] != nil }

  private mutating func move(_ rule: TransposedNode, _ node: Node, _ order: AxisOrder) throws {
    hasChanged = true
    var moved = rule.node
    for (position, value) in node.inputs.enumerated() {
      if let source = transposed[value]?.source {
        readerCounts[value, default: 0] -= 1
        readerCounts[source, default: 0] += 1
        moved.inputs[position] = source
      }
    }
    for (position, constant) in rule.constants {
      let name = names.fresh("\(node.inputs[position])/moved")
      graph.initializers[name] = constant
      moved.inputs[position] = name
    }
    guard let result = rule.resultOrder else { return nodes.append(moved) }
    moved.outputs = node.outputs.map { $0.isEmpty ? "" : names.fresh("\($0)/moved") }
    nodes.append(moved)
    for (inner, output) in zip(moved.outputs, node.outputs) where !output.isEmpty {
      append(transposing: inner, result, to: output, name: "")
      readerCounts[inner] = 1
    }
  }

  private mutating func append(
    transposing source: String, _ order: AxisOrder, to output: String, name: String
  ) {
    nodes.append(
      Node(
        "Transpose", name: name, inputs: [source], outputs: [output],
        attributes: order.axes.map { ["perm": .ints($0)] } ?? [:]))
    transposed[output] = Transposed(source: source, order: order)
  }

  /// Gives a value the name of an output that it is equal to.
  private mutating func rename(_ value: String, to output: String, from maker: Int) {
    nodes[maker].outputs = nodes[maker].outputs.map { $0 == value ? output : $0 }
    for index in nodes.indices.dropFirst(maker + 1) {
      nodes[index].inputs = nodes[index].inputs.map { $0 == value ? output : $0 }
    }
    for (name, entry) in transposed where entry.source == value {
      transposed[name] = Transposed(source: output, order: entry.order)
    }
    for (name, other) in others where other == value { others[name] = output }
    others[value] = output
    readerCounts[output, default: 0] += readerCounts[value] ?? 0
    transposed[output] = nil
  }
}

/// A value that is another one with its axes in another order.
private struct Transposed {
  let source: String
  let order: AxisOrder
}
