import GraftGraph
import GraftTensor

/// Makes one LayerNormalization over the last axis of the nine nodes that exporters wrote before
/// opset 17: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + shift.
package struct LayerNormalizationFusion: GraphPass {
  package let name = "layer normalization fusion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    var replaced: [Int: Node] = [:]
    for node in graph.nodes where node.op == "Sqrt" && node.domain.isEmpty {
      if let (position, fused) = Self.normalization(around: node, index, kept) {
        replaced[position] = fused
      }
    }
    for (position, node) in replaced { graph.nodes[position] = node }
    if !replaced.isEmpty { graph = graph.pruned(to: graph.outputs) }
  }

  private static func normalization(around root: Node, _ index: GraphIndex, _ kept: Set<String>)
    -> (
      Int, Node
    )?
  {
    guard let input = root.inputs.first, let sum = index.producer(of: input, "Add") else {
      return nil
    }
    // Upwards: epsilon, the mean of squares, the square, the difference from the mean.
    var epsilon = 0.0
    guard
      let variance = index.split(
        sum.node,
        where: {
          epsilon = $0
          return $0 > 0 && $0 < 0.1
        }),
      let mean = index.producer(of: variance, "ReduceMean"), isOverLastAxis(mean.node, index),
      let square = squared(mean.node.inputs[0], index),
      let difference = index.producer(of: square, "Sub"), difference.node.inputs.count == 2,
      let average = index.producer(of: difference.node.inputs[1], "ReduceMean"),
      isOverLastAxis(average.node, index), average.node.inputs[0] == difference.node.inputs[0],
      // Downwards: the quotient, scale and shift.
      let quotient = index.onlyReader(of: root.outputs[0], "Div"),
      quotient.node.inputs.first == square,
      let product = index.onlyReader(of: quotient.node.outputs[0], "Mul"),
      let scale = product.node.inputs.first(where: { $0 != quotient.node.outputs[0] }),
      let shifted = index.onlyReader(of: product.node.outputs[0], "Add"),
      let shift = shifted.node.inputs.first(where: { $0 != product.node.outputs[0] }),
      let shape = index.graph.initializers[scale]?.shape, shape.rank == 1, shape[0] > 1,
      index.graph.initializers[shift]?.shape == shape
    else { return nil }
    let inner = [quotient.node.outputs[0], product.node.outputs[0]]
    guard !inner.contains(where: kept.contains) else { return nil }
    return (
      shifted.index,
      Node(
        "LayerNormalization", name: shifted.node.name,
        inputs: [difference.node.inputs[0], scale, shift], outputs: shifted.node.outputs,
        attributes: ["axis": .int(-1), "epsilon": .float(Float(epsilon))])
    )
  }

  /// The value whose square another one is.
  private static func squared(_ value: String, _ index: GraphIndex) -> String? {
    if let power = index.producer(of: value, "Pow") {
      let isSquare = power.node.inputs.count == 2 && index.scalar(power.node.inputs[1]) == 2
      return isSquare ? power.node.inputs[0] : nil
    }
    guard let product = index.producer(of: value, "Mul"), product.node.inputs.count == 2,
      product.node.inputs[0] == product.node.inputs[1]
    else { return nil }
    return product.node.inputs[0]
  }

  /// Whether a reduction keeps its last axis with one element, and is over that axis alone.
  private static func isOverLastAxis(_ node: Node, _ index: GraphIndex) -> Bool {
    guard (try? node.int("keepdims", default: 1)) == 1, node.inputs.count == 2,
      let axes = index.graph.initializers[node.inputs[1]]?.ints
    else { return false }
    return axes == [-1]
  }
}
