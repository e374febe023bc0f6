import GraftGraph
import GraftTensor

extension ONNXEncoder {
  /// - Parameter listsInitializers: whether initializers are inputs as well, as they had to be up
  ///   to IR version 3.
  func graph(_ graph: Graph, isOutermost: Bool, listsInitializers: Bool) -> ProtobufWriter {
    var message = ProtobufWriter()
    for node in graph.nodes { message.message(ONNXField.Graph.node, self.node(node)) }
    message.string(ONNXField.Graph.name, graph.name.isEmpty ? "graph" : graph.name)
    for (name, tensor) in graph.initializers {
      message.message(
        ONNXField.Graph.initializer,
        self.tensor(tensor, name: name, offset: isOutermost ? layout?.offset(of: name) : nil))
    }
    for (name, tensor) in graph.stringInitializers {
      message.message(ONNXField.Graph.initializer, text(tensor, name: name))
    }
    message.stringIfAny(ONNXField.Graph.documentation, graph.documentation)
    let inputs = graph.inputs + (listsInitializers ? graph.initializerFeatures : [])
    for input in inputs { message.message(ONNXField.Graph.input, feature(input)) }
    for output in graph.outputs { message.message(ONNXField.Graph.output, feature(output)) }
    let made = Set(graph.nodes.flatMap(\.outputs)).subtracting(graph.outputs.map(\.name))
    for (name, type) in graph.innerTypes where made.contains(name) {
      message.message(ONNXField.Graph.valueInfo, feature(Feature(name: name, type: type)))
    }
    return message
  }

  private func node(_ node: Node) -> ProtobufWriter {
    var message = ProtobufWriter()
    for input in node.inputs { message.string(ONNXField.Node.input, input) }
    for output in node.outputs { message.string(ONNXField.Node.output, output) }
    message.stringIfAny(ONNXField.Node.name, node.name)
    let parts = node.op.split(separator: ":", maxSplits: 1).map(String.init)
    message.string(ONNXField.Node.op, parts.first ?? node.op)
    for (name, value) in node.attributes.sorted(by: { $0.key < $1.key }) {
      attribute(name, value, into: &message)
    }
    message.stringIfAny(ONNXField.Node.documentation, node.documentation)
    message.stringIfAny(ONNXField.Node.domain, node.domain)
    if parts.count == 2 { message.string(ONNXField.Node.overload, parts[1]) }
    return message
  }

  private func attribute(_ name: String, _ value: Attribute, into node: inout ProtobufWriter) {
    var message = ProtobufWriter()
    message.string(ONNXField.Attribute.name, name)
    let kind: ONNXAttributeKind
    switch value {
    case .opaque(let encoded):
      node.array(ONNXField.Node.attribute, encoded)
      return
    case .int(let value):
      kind = .int
      message.int(ONNXField.Attribute.int, value)
    case .float(let value):
      kind = .float
      message.float(ONNXField.Attribute.float, value)
    case .string(let value):
      kind = .string
      message.array(ONNXField.Attribute.string, value)
    case .tensor(let value):
      kind = .tensor
      message.message(ONNXField.Attribute.tensor, tensor(value, name: "", offset: nil))
    case .text(let value):
      kind = .tensor
      message.message(ONNXField.Attribute.tensor, text(value, name: ""))
    case .graph(let value):
      kind = .graph
      message.message(ONNXField.Attribute.graph, subgraph(value))
    case .ints(let values):
      kind = .ints
      for value in values { message.int(ONNXField.Attribute.ints, value) }
    case .floats(let values):
      kind = .floats
      for value in values { message.float(ONNXField.Attribute.floats, value) }
    case .strings(let values):
      kind = .strings
      for value in values { message.array(ONNXField.Attribute.strings, value) }
    case .tensors(let values):
      kind = .tensors
      for value in values {
        message.message(ONNXField.Attribute.tensors, tensor(value, name: "", offset: nil))
      }
    case .graphs(let values):
      kind = .graphs
      for value in values { message.message(ONNXField.Attribute.graphs, subgraph(value)) }
    }
    message.int(ONNXField.Attribute.kind, kind.rawValue)
    node.message(ONNXField.Node.attribute, message)
  }

  private func subgraph(_ graph: Graph) -> ProtobufWriter {
    self.graph(graph, isOutermost: false, listsInitializers: false)
  }
}

extension Graph {
  /// The initializers that are no inputs, declared as inputs.
  fileprivate var initializerFeatures: [Feature] {
    let declared = Set(inputs.map(\.name))
    let numbers = initializers.map { name, tensor in
      Feature(
        name: name, type: .tensor(tensor.elementType, shape: tensor.shape.map { .fixed($0) }))
    }
    let texts = stringInitializers.map { name, tensor in
      Feature(name: name, type: .tensor(.string, shape: tensor.shape.map { .fixed($0) }))
    }
    return (numbers + texts).filter { !declared.contains($0.name) }
  }
}
