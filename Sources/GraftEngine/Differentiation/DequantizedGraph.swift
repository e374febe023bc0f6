import GraftGraph
import GraftOperators
import GraftTensor

extension Graph {
  /// Whether integers stand for real numbers in it.
  package var isQuantized: Bool {
    nodes.contains { $0.isDequantization || $0.domain.isEmpty && $0.op == "QuantizeLinear" }
  }

  /// The graph with floating-point numbers in place of quantised ones, as it trains.
  ///
  /// - A weight in integers or half precision that is read through DequantizeLinear, Cast, a product
  ///   with a constant or Transpose only becomes a float32 initializer of the same name.
  /// - QuantizeLinear and DequantizeLinear in a row become a Clip to the range of the integers: what
  ///   lies between passes unchanged, so that gradients do too (straight-through).
  /// - Inputs and outputs in quantised integers are real numbers instead.
  ///
  /// Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
  /// Integer-Arithmetic-Only Inference", 2018.
  package func dequantized() throws -> Graph {
    var graph = self
    graph.returnRealNumbers()
    try DequantizationMotion().apply(
      to: &graph, keeping: Set(graph.outputs.map(\.name)), registry: .standard)
    graph.takeRealNumbers()
    graph.unfoldWeights()
    graph.clampPairs()
    return graph.pruned(to: graph.outputs)
  }

  /// Lets outputs that hold what QuantizeLinear made be dequantised.
  private mutating func returnRealNumbers() {
    let index = GraphIndex(self)
    let names = NameSource(avoiding: valueNames)
    for output in outputs.indices {
      let name = outputs[output].name
      guard let quantization = index.quantization(behind: name) else { continue }
      let integers = names.fresh("\(name)/quantized")
      for position in nodes.indices {
        nodes[position].inputs = nodes[position].inputs.map { $0 == name ? integers : $0 }
        nodes[position].outputs = nodes[position].outputs.map { $0 == name ? integers : $0 }
      }
      nodes.append(
        Node(
          "DequantizeLinear", inputs: [integers] + quantization.inputs.dropFirst(),
          outputs: [name]))
      outputs[output] = outputs[output].asFloat32
    }
  }

  /// Lets inputs that are only dequantised be real numbers.
  private mutating func takeRealNumbers() {
    var sources: [String: String] = [:]
    for input in inputs.indices where initializers[inputs[input].name] == nil {
      let name = inputs[input].name
      let readers = nodes.filter { $0.reads.contains(name) }
      guard !readers.isEmpty, !outputs.contains(where: { $0.name == name }),
        readers.allSatisfy({
          $0.isDequantization && $0.inputs[0] == name
            && QuantizationParameters($0, initializers) != nil
        })
      else { continue }
      for reader in readers { sources[reader.outputs[0]] = name }
      inputs[input] = inputs[input].asFloat32
    }
    guard !sources.isEmpty else { return }
    let kept = Set(outputs.map(\.name))
    nodes = nodes.compactMap { node in
      if let output = node.outputs.first, let source = sources[output] {
        return kept.contains(output)
          ? Node("Identity", inputs: [source], outputs: [output]) : nil
      }
      var node = node
      node.inputs = node.inputs.map { sources[$0] ?? $0 }
      return node
    }
  }

  /// Computes weights from the constants that they are stored in.
  private mutating func unfoldWeights() {
    var origins: [String: String] = [:]
    var readers: [String: Int] = [:]
    for name in nodes.flatMap(\.reads) { readers[name, default: 0] += 1 }
    var remaining: [Node] = []
    for node in nodes {
      guard node.domain.isEmpty, Self.unfolding.contains(node.op), let first = node.inputs.first,
        let stored = initializers[first],
        origins[first] != nil || !(stored.elementType == .float32),
        let op = OperatorRegistry.standard(node),
        let value = try? ConstantFolding.value(of: node, op, initializers, isUnlimited: true)
      else {
        remaining.append(node)
        continue
      }
      initializers[node.outputs[0]] = value
      origins[node.outputs[0]] = origins[first] ?? first
    }
    nodes = remaining
    takeNames(of: origins, readers)
  }

  private static let unfolding: Set<String> = ["Cast", "DequantizeLinear", "Mul", "Transpose"]

  /// Gives each weight the name of the constant that it was made of, where that is free.
  private mutating func takeNames(of origins: [String: String], _ readers: [String: Int]) {
    var names: [String: String] = [:]
    let read = Set(nodes.flatMap(\.reads))
    for (made, origin) in origins.sorted(by: { $0.key < $1.key }) where read.contains(made) {
      guard !read.contains(origin), readers[origin] == 1 else { continue }
      names[made] = origin
      initializers[origin] = initializers[made]
      initializers[made] = nil
    }
    for index in nodes.indices {
      nodes[index].inputs = nodes[index].inputs.map { names[$0] ?? $0 }
    }
  }

  private mutating func clampPairs() {
    let index = GraphIndex(self)
    let names = NameSource(avoiding: valueNames)
    for (position, node) in nodes.enumerated() where node.isDequantization {
      guard let quantization = index.producer(of: node.inputs[0], "QuantizeLinear"),
        let type = quantizedType(of: quantization.node),
        let parameters = QuantizationParameters(node, initializers),
        parameters == QuantizationParameters(quantization.node, initializers),
        let bounds = QuantizationBounds(type, parameters),
        let lowest = try? Tensor(scalar: Float(bounds.lowest) * parameters.scale),
        let highest = try? Tensor(scalar: Float(bounds.highest) * parameters.scale)
      else { continue }
      let low = names.fresh("\(node.outputs[0])/lowest")
      let high = names.fresh("\(node.outputs[0])/highest")
      initializers[low] = lowest
      initializers[high] = highest
      nodes[position] = Node(
        "Clip", name: node.name, inputs: [quantization.node.inputs[0], low, high],
        outputs: node.outputs)
    }
  }
}

extension GraphIndex {
  /// The QuantizeLinear, with one scale for all elements, whose integers a value holds.
  fileprivate func quantization(behind value: String) -> Node? {
    var value = value
    while let position = producers[value] {
      let node = graph.nodes[position]
      guard node.domain.isEmpty else { return nil }
      if node.op == "QuantizeLinear" {
        return QuantizationParameters(node, graph.initializers) == nil ? nil : node
      }
      guard MovingNode.unary.contains(node.op) || node.op == "Concat" else { return nil }
      value = node.inputs[0]
    }
    return nil
  }
}

extension Feature {
  /// The feature with float32 elements.
  fileprivate var asFloat32: Feature {
    guard case .tensor(_, let shape) = type else { return self }
    var feature = self
    feature.type = .tensor(.float32, shape: shape)
    feature.quantization = nil
    return feature
  }
}
