import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  /// Layers that combine several values element by element.
  static let binaryLayers: [String: Rule] = {
    var table: [String: Rule] = [
      "add": { context, layer in
        let alpha = Double(try layer.parameters.float(1))
        try context.fold(layer, "Add") { graph, value in
          try graph.scaled(value, 1, plus: alpha)
        }
      },
      "multiply": { context, layer in
        let alpha = Double(try layer.parameters.float(1))
        try context.fold(layer, "Mul") { graph, value in try graph.scaled(value, alpha) }
      },
      "average": { context, layer in
        let (values, form) = try context.alike(layer)
        let value = context.graph.add("Mean", values)
        context.bind(try context.output(of: layer), value, form)
      },
      "floorDivBroadcastable": { context, layer in
        try context.combine(layer) { graph, values in
          graph.add("Floor", [graph.add("Div", values)])
        }
      },
      "modBroadcastable": { context, layer in
        // The remainder has the sign of the divisor.
        try context.combine(layer) { graph, values in
          let quotient = graph.add("Floor", [graph.add("Div", values)])
          return graph.add("Sub", [values[0], graph.add("Mul", [quotient, values[1]])])
        }
      },
      "whereBroadcastable": { context, layer in
        try context.combine(layer, count: 3) { graph, values in
          graph.add("Where", [try graph.truth(values[0]), values[1], values[2]])
        }
      },
    ]
    for (kind, op) in [
      "max": "Max", "min": "Min", "addBroadcastable": "Add", "multiplyBroadcastable": "Mul",
      "maxBroadcastable": "Max", "minBroadcastable": "Min",
    ] {
      table[kind] = { context, layer in try context.fold(layer, op) { _, value in value } }
    }
    for (kind, op) in [
      "subtractBroadcastable": "Sub", "divideBroadcastable": "Div", "powBroadcastable": "Pow",
    ] {
      table[kind] = { context, layer in
        try context.combine(layer) { graph, values in graph.add(op, values) }
      }
    }
    for (kind, (op, isNegated, field)) in comparisons {
      table[kind] = { context, layer in
        let alpha = Double(try layer.parameters.float(field))
        try context.combine(layer, orConstant: alpha) { graph, values in
          var value = graph.add(op, values)
          if isNegated { value = graph.add("Not", [value]) }
          return graph.cast(value, to: .float32)
        }
      }
    }
    for (kind, op) in ["logicalOr": "Or", "logicalXor": "Xor", "logicalAnd": "And"] {
      table[kind] = { context, layer in
        try context.combine(layer) { graph, values in
          let truths = try values.map { try graph.truth($0) }
          return graph.cast(graph.add(op, truths), to: .float32)
        }
      }
    }
    return table
  }()

  /// The operator, whether its result is turned around, and the field of the constant.
  private static let comparisons: [String: (String, Bool, Int)] = [
    "equal": ("Equal", false, 1), "notEqual": ("Equal", true, 1), "lessThan": ("Less", false, 2),
    "lessEqual": ("LessOrEqual", false, 2), "greaterThan": ("Greater", false, 2),
    "greaterEqual": ("GreaterOrEqual", false, 2),
  ]
}

extension CoreMLGraph {
  /// Whether numbers are other than 0.
  mutating func truth(_ value: String) throws -> String {
    if elementType(value) == .bool { return value }
    return add("Not", [add("Equal", [value, try number(0)])])
  }
}

extension NetworkContext {
  /// Adds a layer of one input, or one operator over two or more from the left to the right.
  fileprivate mutating func fold(
    _ layer: CoreMLLayer, _ op: String, _ alone: (inout CoreMLGraph, String) throws -> String
  ) throws {
    let (values, form) = try alike(layer)
    var result = values[0]
    if values.count == 1 {
      result = try alone(&graph, result)
      if result == values[0] { result = graph.add("Identity", [result]) }
    }
    for value in values.dropFirst() { result = graph.add(op, [result, value]) }
    bind(try output(of: layer), result, form)
  }

  /// Adds a layer of a fixed number of inputs.
  ///
  /// - Parameter constant: what stands for a second input that is not there.
  fileprivate mutating func combine(
    _ layer: CoreMLLayer, count: Int = 2, orConstant constant: Double? = nil,
    _ body: (inout CoreMLGraph, [String]) throws -> String
  ) throws {
    var (values, form) = try alike(layer)
    if values.count == 1, let constant { values.append(try graph.number(constant)) }
    guard values.count == count else {
      throw GraftError(.damaged, "it has \(values.count) inputs, not \(count)")
    }
    bind(try output(of: layer), try body(&graph, values), form)
  }
}
