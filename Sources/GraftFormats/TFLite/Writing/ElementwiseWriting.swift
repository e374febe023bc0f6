import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let binaryFunctions: [String: Rule] = arithmetic.merging(comparisons) { first, _ in first }
    .merging(choices) { first, _ in first }

  private static let arithmetic: [String: Rule] = [
    "Add": fold("ADD", hasActivation: true), "Sub": fold("SUB", hasActivation: true),
    "Mul": fold("MUL", hasActivation: true), "Div": division, "Sum": fold("ADD"),
    "Max": fold("MAXIMUM"), "Min": fold("MINIMUM"), "Pow": fold("POW"), "PRelu": fold("PRELU"),
    "And": fold("LOGICAL_AND"), "Or": fold("LOGICAL_OR"), "Xor": fold("NOT_EQUAL"),
    "Mod": { context, node in
      guard try node.int("fmod", default: 0) == 0 else {
        throw GraftError(.unsupported, "the remainder of floats")
      }
      try fold("FLOOR_MOD")(&context, node)
    },
    "Mean": { context, node in
      let (tensors, order) = try context.operands(node.inputs, for: node.outputs[0])
      let sum = try context.folded("ADD", tensors, for: node.outputs[0], order: order)
      let factor = context.number(1 / Float(node.inputs.count))
      try context.emit("MUL", [sum, factor], for: node.outputs[0], order: order)
    },
  ]

  private static let comparisons: [String: Rule] = [
    "Equal": "EQUAL", "Greater": "GREATER", "GreaterOrEqual": "GREATER_EQUAL", "Less": "LESS",
    "LessOrEqual": "LESS_EQUAL",
  ].mapValues { op in
    { context, node in
      let (tensors, order) = try context.operands(node.inputs, for: node.outputs[0])
      try context.emit(op, tensors, for: node.outputs[0], order: order)
    }
  }

  private static let choices: [String: Rule] = [
    "Where": { context, node in
      let (tensors, order) = try context.operands(node.inputs, for: node.outputs[0])
      try context.emit("SELECT_V2", tensors, for: node.outputs[0], order: order)
    }
  ]

  /// An operator on two or more inputs.
  private static func fold(_ op: String, hasActivation: Bool = false) -> Rule {
    { context, node in
      let (tensors, order) = try context.operands(node.inputs, for: node.outputs[0])
      guard tensors.count > 1 else {
        return context.bind(node.outputs[0], tensors[0], order: order)
      }
      var left = tensors[0]
      if tensors.count > 2 {
        left = try context.folded(
          op, Array(tensors.dropLast()), for: node.outputs[0], order: order)
      }
      let (value, activation) =
        hasActivation ? context.fusedOutput(of: node) : (node.outputs[0], .none)
      try context.emit(
        op, [left, tensors[tensors.count - 1]], for: value, order: order,
        options: hasActivation ? TFLiteOptions.activation(activation) : nil)
    }
  }

  /// LiteRT divides floats and int32.
  private static let division: Rule = { context, node in
    guard try context.type(node.outputs[0]).elementType == .int64 else {
      return try fold("DIV", hasActivation: true)(&context, node)
    }
    let (tensors, order) = try context.operands(node.inputs, for: node.outputs[0])
    var quotient = try context.description(of: node.outputs[0], order: order)
    quotient.elementType = .int32
    let narrow = tensors.map { context.int32($0) }
    let made = context.emit(
      "DIV", narrow, as: quotient, options: TFLiteOptions.activation(.none))
    context.bind(node.outputs[0], context.cast(made, to: .int64), order: order)
  }
}

extension WritingContext {
  /// The inputs of an operator that broadcasts, all with their axes in one order.
  mutating func operands(_ names: [String], for result: String) throws -> (
    tensors: [Int], order: [Int]
  ) {
    let rank = try shape(result).rank
    let order = try commonOrder(names, rank: rank)
    let tensors = try names.map { try operand($0, order) }
    return (tensors, order)
  }

  /// The order that the first computed value of full rank has its axes in.
  func commonOrder(_ names: [String], rank: Int) throws -> [Int] {
    let whole = names.first { name in
      constant(name) == nil && (shapes.types[name]?.shape.rank ?? -1) == rank
    }
    return try whole.map(order) ?? Array(0..<rank)
  }

  /// A value as an operand of an operator whose result has its axes in an order.
  private mutating func operand(_ name: String, _ order: [Int]) throws -> Int {
    let shape = try shape(name)
    if shape.rank == order.count { return try tensor(name, order: order) }
    if order == Array(order.indices) { return try tensor(name) }
    let missing = order.count - shape.rank
    let seen = Shape([Int](repeating: 1, count: missing) + shape.dimensions)
    if let constant = constant(name) {
      if constant.elementCount == 1 { return try tensor(name) }
      return constantTensor(
        try constant.reshaped(to: seen).permuted(order), named: name,
        key: "value \(name) \(order)")
    }
    let source = try tensor(name)
    var target = draft.values[source]
    target.name += "/expanded"
    target.shape = seen.dimensions
    target.open = Set(target.open.map { $0 + missing })
    guard target.open.count <= 1 else {
      throw GraftError(.unsupported, "an operand of shape \(shape) with several open sizes")
    }
    return transposed(reshaped(source, to: target), order, named: name + "/operand")
  }

  /// Applies an operator from left to right.
  mutating func folded(_ op: String, _ tensors: [Int], for value: String, order: [Int]) throws
    -> Int
  {
    var result = tensors[0]
    for other in tensors.dropFirst() {
      var description = try description(of: value, order: order)
      description.name += "/part"
      result = emit(
        op, [result, other], as: description,
        options: ["ADD", "MUL"].contains(op) ? TFLiteOptions.activation(.none) : nil)
    }
    return result
  }
}
