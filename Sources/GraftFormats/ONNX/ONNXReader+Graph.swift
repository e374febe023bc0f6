import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ONNXReader {
  func graph(_ message: ProtobufReader) throws -> Graph {
    var message = message
    var graph = Graph(name: "")
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Graph.node: graph.nodes.append(try node(try field.message()))
      case ONNXField.Graph.name: graph.name = try field.string()
      case ONNXField.Graph.documentation: graph.documentation = try field.string()
      case ONNXField.Graph.initializer:
        try add(try tensor(try field.message()), to: &graph)
      case ONNXField.Graph.input: graph.inputs.append(try feature(try field.message()))
      case ONNXField.Graph.output: graph.outputs.append(try feature(try field.message()))
      case ONNXField.Graph.valueInfo:
        let value = try feature(try field.message())
        graph.innerTypes[value.name] = value.type
      case ONNXField.Graph.sparseInitializer:
        throw GraftError(
          .unsupported, "the model stores a sparse tensor",
          fix: "Export the model with dense tensors")
      default: break
      }
    }
    return graph
  }

  private func add(_ named: NamedTensor, to graph: inout Graph) throws {
    guard graph.initializers[named.name] == nil, graph.stringInitializers[named.name] == nil else {
      throw GraftError(.damaged, "there are two initializers named '\(named.name)'")
    }
    switch named.content {
    case .numbers(let tensor): graph.initializers[named.name] = tensor
    case .text(let tensor): graph.stringInitializers[named.name] = tensor
    }
  }

  private func node(_ message: ProtobufReader) throws -> Node {
    var message = message
    var node = Node("", inputs: [], outputs: [])
    var overload = ""
    // Attributes are read last, when errors can name the node.
    var attributes: [ProtobufField] = []
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Node.input: node.inputs.append(try field.string())
      case ONNXField.Node.output: node.outputs.append(try field.string())
      case ONNXField.Node.name: node.name = try field.string()
      case ONNXField.Node.op: node.op = try field.string()
      case ONNXField.Node.attribute: attributes.append(field)
      case ONNXField.Node.documentation: node.documentation = try field.string()
      case ONNXField.Node.domain: node.domain = canonicalDomain(try field.string())
      case ONNXField.Node.overload: overload = try field.string()
      default: break
      }
    }
    node.op = overloadedName(node.op, overload)
    try locating(node.place) {
      guard !node.op.isEmpty else { throw GraftError(.damaged, "a node names no operator") }
      for field in attributes { try readAttribute(field, into: &node) }
    }
    return node
  }
}
