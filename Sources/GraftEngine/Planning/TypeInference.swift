import GraftDiagnostics
import GraftGraph
import GraftTensor

extension Graph {
  /// The types of all values that can be known before a run, for inputs of the given types.
  ///
  /// Small integer values, such as shapes, are computed on the way. A value whose shape depends on
  /// numbers not known before the run is left out, and so is all that follows from it.
  ///
  /// - Throws: what `Operator.outputTypes` finds wrong, with the node as place.
  package func inferTypes(_ inputTypes: [String: TensorType], registry: OperatorRegistry) throws
    -> [String: TensorType]
  {
    try infer(inputTypes, registry: registry).types
  }

  /// The types, and the values that are the same for all inputs of these types.
  package func infer(_ inputTypes: [String: TensorType], registry: OperatorRegistry) throws -> (
    types: [String: TensorType], values: [String: Tensor]
  ) {
    var inference = TypeInference(graph: self, inputTypes: inputTypes)
    for node in nodes {
      if let op = registry(node) { try locating(node.place) { try inference.visit(node, op) } }
    }
    return (inference.types, inference.values)
  }
}

private struct TypeInference {
  var types: [String: TensorType]
  private(set) var values: [String: Tensor] = [:]
  /// Values with more elements than this are not computed before a run.
  private static let largestValue = 4096

  init(graph: Graph, inputTypes: [String: TensorType]) {
    types = inputTypes
    for (name, tensor) in graph.initializers {
      types[name] = TensorType(of: tensor)
      values[name] = tensor
    }
  }

  mutating func visit(_ node: Node, _ op: any Operator) throws {
    let names = node.inputs
    guard names.allSatisfy({ $0.isEmpty || types[$0] != nil }) else { return }
    let inputs = names.map { types[$0] }
    do {
      let outputs = try op.outputTypes(
        TypeContext(node: node, inputs: inputs, values: names.map { values[$0] }))
      for (name, type) in zip(node.outputs, outputs) where !name.isEmpty { types[name] = type }
      try evaluate(node, op, inputs, outputs)
    } catch is TypeContext.ValueUnknown {
      return
    }
  }

  /// Computes the node's outputs when all they depend on is known and small.
  private mutating func evaluate(
    _ node: Node, _ op: any Operator, _ inputs: [TensorType?], _ outputs: [TensorType]
  ) throws {
    guard node.outputs.count <= outputs.count,
      outputs.prefix(node.outputs.count).allSatisfy({ $0.shape.elementCount <= Self.largestValue })
    else { return }
    var arguments: [Tensor?] = []
    for (name, type) in zip(node.inputs, inputs) {
      guard let type else {
        arguments.append(nil)
        continue
      }
      if op.readsShapesOnly {
        arguments.append(try Tensor(shapeOnly: type.shape, type.elementType))
      } else if let value = values[name], value.elementCount <= Self.largestValue {
        arguments.append(value)
      } else {
        return
      }
    }
    let results = try zip(node.outputs, outputs).map { name, type in
      name.isEmpty ? nil : try Tensor(uninitialized: type.shape, type.elementType)
    }
    try op.run(KernelContext(node: node, inputs: arguments, outputs: results, threads: 1))
    for (name, result) in zip(node.outputs, results) where !name.isEmpty { values[name] = result }
  }
}
