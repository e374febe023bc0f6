import GraftTensor

/// A computation: nodes in the order they run, over named values.
///
/// Operators have ONNX's semantics at opset 21; those of domain `graft` are Graft's own.
package struct Graph: Sendable {
  /// The version of ONNX's operators that nodes follow.
  package static let opset = 21

  package var name: String
  package var documentation: String
  package var inputs: [Feature]
  package var outputs: [Feature]
  package var nodes: [Node]
  /// Constants and parameters by name.
  package var initializers: OrderedTable<Tensor>
  /// Initializers of strings.
  package var stringInitializers: OrderedTable<StringTensor>
  /// What is declared of inner values.
  package var innerTypes: OrderedTable<FeatureType>

  package init(
    name: String = "graph", inputs: [Feature] = [], outputs: [Feature] = [], nodes: [Node] = [],
    initializers: OrderedTable<Tensor> = OrderedTable()
  ) {
    self.name = name
    self.documentation = ""
    self.inputs = inputs
    self.outputs = outputs
    self.nodes = nodes
    self.initializers = initializers
    self.stringInitializers = OrderedTable()
    self.innerTypes = OrderedTable()
  }

  /// For every value made by a node: the node's index.
  package var producers: [String: Int] {
    var producers: [String: Int] = [:]
    for (index, node) in nodes.enumerated() {
      for output in node.outputs where !output.isEmpty { producers[output] = index }
    }
    return producers
  }

  /// Every name in use: of inputs, initializers and values.
  package var valueNames: Set<String> {
    var names = Set(inputs.map(\.name))
    names.formUnion(initializers.keys)
    names.formUnion(stringInitializers.keys)
    for node in nodes {
      names.formUnion(node.inputs)
      names.formUnion(node.outputs)
      for graph in node.subgraphs { names.formUnion(graph.valueNames) }
    }
    return names
  }

  /// Inputs that must be fed: those that are no initializers as well.
  package var requiredInputs: [Feature] { inputs.filter { initializers[$0.name] == nil } }
}

extension Node {
  /// All names the node reads: its inputs and what its subgraphs take from outside.
  package var reads: [String] {
    inputs.filter { !$0.isEmpty } + subgraphs.flatMap(\.outerReads)
  }
}

extension Graph {
  /// The names that the nodes read but that the graph itself does not define.
  package var outerReads: [String] {
    var defined = Set(inputs.map(\.name))
    defined.formUnion(initializers.keys)
    defined.formUnion(stringInitializers.keys)
    for node in nodes { defined.formUnion(node.outputs) }
    let reads = nodes.flatMap(\.reads) + outputs.map(\.name)
    return reads.filter { !defined.contains($0) }
  }
}
