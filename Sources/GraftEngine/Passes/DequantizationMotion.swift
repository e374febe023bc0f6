import GraftGraph
import GraftTensor

/// Moves DequantizeLinear before nodes that only move or select elements: such a node then works on
/// floating-point numbers, in any layout, and the pair with QuantizeLinear meets.
package struct DequantizationMotion: GraphPass {
  package let name = "dequantization motion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    guard graph.nodes.contains(where: { $0.isDequantization }) else { return }
    while Self.sweep(&graph, kept) {}
  }

  /// Moves each DequantizeLinear by one node; false when none could be.
  private static func sweep(_ graph: inout Graph, _ kept: Set<String>) -> Bool {
    let index = GraphIndex(graph)
    let names = NameSource(avoiding: graph.valueNames)
    var replacements: [Int: [Node]] = [:]
    for (position, node) in graph.nodes.enumerated() where node.isDequantization {
      guard let parameters = QuantizationParameters(node, graph.initializers),
        let source = index.producers[node.inputs[0]], replacements[source] == nil,
        index.readerCount(of: node.inputs[0]) == 1, !kept.contains(node.inputs[0]),
        var mover = MovingNode(graph.nodes[source], parameters, graph.initializers)
      else { continue }
      var nodes: [Node] = []
      for input in mover.dataInputs {
        let value = mover.node.inputs[input]
        let output = names.fresh("\(value)/dequantized")
        var dequantization = node
        dequantization.inputs[0] = value
        dequantization.outputs = [output]
        nodes.append(dequantization)
        mover.node.inputs[input] = output
      }
      mover.node.outputs = node.outputs
      replacements[source] = nodes + [mover.node]
      replacements[position] = []
    }
    guard !replacements.isEmpty else { return false }
    graph.nodes = graph.nodes.indices.flatMap { replacements[$0] ?? [graph.nodes[$0]] }
    return true
  }
}

/// A node whose output's elements are elements of its inputs.
struct MovingNode {
  var node: Node
  let dataInputs: [Int]

  static let unary: Set<String> = [
    "DepthToSpace", "Expand", "Flatten", "Gather", "GatherND", "Identity", "MaxPool", "Reshape",
    "Slice", "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze",
  ]

  /// Nil for other nodes.
  init?(_ node: Node, _ parameters: QuantizationParameters, _ constants: OrderedTable<Tensor>) {
    guard node.domain.isEmpty, node.outputs.count == 1 else { return nil }
    self.node = node
    switch node.op {
    case "Concat": dataInputs = Array(node.inputs.indices)
    case "Pad":
      dataInputs = [0]
      guard Self.padsWithZero(node, parameters, constants) else { return nil }
      if node.inputs.count > 2 { self.node.inputs[2] = "" }
    case let op where Self.unary.contains(op): dataInputs = [0]
    default: return nil
    }
  }

  /// Whether what a Pad adds stands for 0.
  private static func padsWithZero(
    _ node: Node, _ parameters: QuantizationParameters, _ constants: OrderedTable<Tensor>
  ) -> Bool {
    if let mode = try? node.string("mode", default: "constant"), mode != "constant" { return true }
    guard node.inputs.count > 2, !node.inputs[2].isEmpty else { return parameters.zeroPoint == 0 }
    return constants[node.inputs[2]].flatMap(\.firstInteger) == parameters.zeroPoint
  }
}
