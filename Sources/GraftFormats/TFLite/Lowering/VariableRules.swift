import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Variables that a model keeps from one run to the next, such as the state of a stream.
///
/// Graphs here keep nothing: a variable becomes an input that need not be fed, since its first value
/// is an initializer, and what it becomes an output, `NAME/next`.
struct LoweredVariables {
  /// The variable that a tensor refers to.
  var handles: [Int: String] = [:]
  /// Values before the first run.
  var initialValues: [String: Tensor] = [:]
  /// The value of each variable at this point of the graph.
  var currentValues: [String: String] = [:]
  /// Those that the model changes, with the tensor that holds the new value.
  var changed = OrderedTable<Int>()
}

extension TFLiteLowering {
  static let variableRules: [String: Rule] = [
    "VAR_HANDLE": { context, operation in
      let handle = try context.output(0, of: operation)
      context.variables.handles[handle.index] = try variableName(operation)
    },
    "READ_VARIABLE": { context, operation in
      let output = try context.output(0, of: operation)
      let name = try variable(context, operation)
      let value = try context.value(of: name, like: output)
      context.bind(value, to: output)
    },
    "ASSIGN_VARIABLE": { context, operation in
      let name = try variable(context, operation)
      let tensor = try context.input(1, of: operation)
      context.variables.currentValues[name] = try context.stored(tensor)
      context.variables.changed[name] = tensor.index
    },
    "CALL_ONCE": { context, operation in
      let index = try operation.int(0)
      guard context.file.subgraphs.indices.contains(index) else {
        throw GraftError(.damaged, "there is no subgraph \(index)")
      }
      try readInitialValues(context.file.subgraphs[index], &context)
    },
  ]

  private static func variableName(_ operation: TFLiteOperator) throws -> String {
    let name = try operation.options?.string(1) ?? ""
    return name.isEmpty ? "variable" : name
  }

  private static func variable(_ context: LoweringContext, _ operation: TFLiteOperator) throws
    -> String
  {
    try context.variables.handles[try context.input(0, of: operation).index].orThrow {
      GraftError(.unsupported, "a variable that VAR_HANDLE did not name")
    }
  }

  /// The constants that a subgraph assigns to variables.
  private static func readInitialValues(
    _ subgraph: TFLiteSubgraph, _ context: inout LoweringContext
  ) throws {
    var names: [Int: String] = [:]
    for operation in subgraph.operators {
      switch operation.name {
      case "VAR_HANDLE":
        for output in operation.outputs { names[output] = try variableName(operation) }
      case "ASSIGN_VARIABLE":
        guard operation.inputs.count == 2, let handle = operation.inputs[0],
          let value = operation.inputs[1], let name = names[handle],
          let constant = try subgraph.tensors[value].constant(owner: context.file.owner)
        else { throw GraftError(.unsupported, "a variable whose first value is computed") }
        context.variables.initialValues[name] = constant
      default:
        throw GraftError(.unsupported, "\(operation.place) before the first run")
      }
    }
  }
}

extension LoweringContext {
  /// The value of a variable, which becomes an input when it is read first.
  fileprivate mutating func value(of name: String, like tensor: TFLiteTensor) throws -> String {
    if let known = variables.currentValues[name] { return known }
    let initial = try variables.initialValues[name] ?? zeros(like: tensor)
    guard tensor.elementType == initial.elementType else {
      throw GraftError(.damaged, "the variable '\(name)' changes its type")
    }
    let value = initializer(initial, named: name)
    graph.inputs.append(
      Feature(
        name: value,
        type: .tensor(initial.elementType, shape: initial.shape.map { .fixed($0) }),
        documentation: "The state '\(name)' that a run begins with."))
    variables.currentValues[name] = value
    return value
  }

  /// The outputs that variables become.
  mutating func addVariableOutputs() {
    for (name, tensor) in variables.changed {
      guard let value = variables.currentValues[name] else { continue }
      let output = names.fresh(name + "/next")
      graph.nodes.append(Node("Identity", name: output, inputs: [value], outputs: [output]))
      var next = feature(self.tensor(tensor), named: output)
      next.documentation = "The state '\(name)' that a run ends with."
      graph.outputs.append(next)
    }
  }
}
