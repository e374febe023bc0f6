import GraftGraph
import GraftTensor

/// Makes one FakeQuantize of QuantizeLinear and DequantizeLinear with the same parameters, with the
/// bounds of a Relu or Clip before them.
package struct QuantizationFusion: GraphPass {
  package let name = "quantization fusion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    var hasChanged = false
    for (position, node) in graph.nodes.enumerated() where node.isDequantization {
      guard let quantization = index.producer(of: node.inputs[0], "QuantizeLinear"),
        let type = index.graph.quantizedType(of: quantization.node),
        let parameters = QuantizationParameters(node, graph.initializers),
        parameters == QuantizationParameters(quantization.node, graph.initializers),
        var bounds = QuantizationBounds(type, parameters)
      else { continue }
      var input = quantization.node.inputs[0]
      if index.readerCount(of: input) == 1, !kept.contains(input),
        let source = bounds.narrow(by: input, index)
      {
        input = source
      }
      graph.nodes[position] = Node(
        "FakeQuantize", domain: graftDomain, name: node.name, inputs: [input],
        outputs: node.outputs,
        attributes: [
          "scale": .float(parameters.scale), "lowest": .int(bounds.lowest),
          "highest": .int(bounds.highest),
        ])
      hasChanged = true
    }
    if hasChanged { graph = graph.pruned(to: graph.outputs) }
  }
}

/// The steps that a quantised type has around 0.
struct QuantizationBounds {
  private(set) var lowest: Int
  private(set) var highest: Int
  private let scale: Float

  /// Nil for types without bounds of 8 or 16 bits.
  init?(_ type: ElementType, _ parameters: QuantizationParameters) {
    let range: ClosedRange<Int>
    switch type {
    case .int8: range = -128...127
    case .uint8: range = 0...255
    case .int16: range = -32768...32767
    case .uint16: range = 0...65535
    default: return nil
    }
    lowest = range.lowerBound - parameters.zeroPoint
    highest = range.upperBound - parameters.zeroPoint
    scale = parameters.scale
  }

  /// Takes over the bounds of a Relu or Clip that makes a value; gives what that reads.
  mutating func narrow(by value: String, _ index: GraphIndex) -> String? {
    if let relu = index.producer(of: value, "Relu") {
      lowest = max(lowest, 0)
      return relu.node.inputs[0]
    }
    guard let clip = index.producer(of: value, "Clip") else { return nil }
    func steps(_ position: Int, without: Int) -> Int? {
      guard position < clip.node.inputs.count, !clip.node.inputs[position].isEmpty else {
        return without
      }
      guard let bound = index.scalar(clip.node.inputs[position]) else { return nil }
      let steps = (Float(bound) * (1 / scale)).rounded(.toNearestOrEven)
      return abs(steps) <= 0x1p20 ? Int(steps) : nil
    }
    guard let low = steps(1, without: lowest), let high = steps(2, without: highest), low <= high
    else { return nil }
    (lowest, highest) = (max(lowest, min(low, highest)), min(highest, max(high, lowest)))
    return clip.node.inputs[0]
  }
}
