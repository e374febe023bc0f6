import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let unaryRules: [String: Rule] = {
    var rules: [String: Rule] = [
      "Identity": same, "Dropout": same, "Neg": negative, "Reciprocal": reciprocal, "Log": log,
      "LeakyRelu": leaky, "Elu": elu, "HardSigmoid": hardSigmoid, "HardSwish": hardSwish,
      "PRelu": slopes, "Gelu": gelu, "Clip": clip, "Cast": cast,
    ]
    for op in [
      "Relu", "Sigmoid", "Tanh", "Sqrt", "Exp", "Abs", "Erf", "Softsign", "Softplus", "Floor",
      "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
      "Asinh", "Acosh", "Atanh",
    ] {
      let type = op.lowercased()
      rules[op] = { try $0.unary(type, $1) }
    }
    return rules
  }()

  static let binaryRules: [String: Rule] = {
    var rules: [String: Rule] = ["Where": choice]
    for (op, type) in [
      ("Add", "add"), ("Sub", "sub"), ("Mul", "mul"), ("Div", "real_div"), ("Pow", "pow"),
      ("Max", "maximum"), ("Min", "minimum"), ("Equal", "equal"), ("Less", "less"),
      ("Greater", "greater"), ("LessOrEqual", "less_equal"), ("GreaterOrEqual", "greater_equal"),
    ] {
      rules[op] = { try $0.binary(type, $1) }
    }
    return rules
  }()

  private static let same: Rule = { lowering, node in
    let value = try lowering.operand(node.inputs[0])
    lowering.bind(node.outputs[0], to: value)
  }

  private mutating func unary(
    _ type: String, _ node: Node, _ more: [(name: String, value: CoreMLDraft.Argument)] = []
  ) throws {
    let value = try required(0, of: node)
    guard try isFloat(value) else {
      throw GraftError(.unsupported, "values of type \(try self.type(value).elementType)")
    }
    try emit(type, [("x", .value(try operand(value)))] + more, for: node.outputs[0])
  }

  private static let negative: Rule = { lowering, node in
    let factor = try lowering.number(-1)
    guard try lowering.isFloat(node.inputs[0]) else {
      throw GraftError(.unsupported, "whole numbers")
    }
    try lowering.emit(
      "mul", [("x", .value(try lowering.operand(node.inputs[0]))), ("y", factor)],
      for: node.outputs[0])
  }

  private static let reciprocal: Rule = { lowering, node in
    try lowering.emit(
      "real_div",
      [("x", try lowering.number(1)), ("y", .value(try lowering.operand(node.inputs[0])))],
      for: node.outputs[0])
  }

  private static let log: Rule = { try $0.unary("log", $1, [("epsilon", .number(0))]) }

  private static let leaky: Rule = { lowering, node in
    try lowering.unary(
      "leaky_relu", node, [("alpha", .number(try node.float("alpha", default: 0.01)))])
  }

  private static let elu: Rule = { lowering, node in
    try lowering.unary("elu", node, [("alpha", .number(try node.float("alpha", default: 1)))])
  }

  private static let hardSigmoid: Rule = { lowering, node in
    try lowering.unary(
      "sigmoid_hard", node,
      [
        ("alpha", .number(try node.float("alpha", default: 0.2))),
        ("beta", .number(try node.float("beta", default: 0.5))),
      ])
  }

  private static let hardSwish: Rule = { lowering, node in
    let value = try lowering.operand(node.inputs[0])
    let gate = lowering.emit(
      "sigmoid_hard", [("x", .value(value)), ("alpha", .number(1 / 6)), ("beta", .number(0.5))],
      as: try lowering.type(node.inputs[0]))
    try lowering.emit("mul", [("x", .value(value)), ("y", .value(gate))], for: node.outputs[0])
  }

  /// max(x, 0) + slope * min(x, 0)
  private static let slopes: Rule = { lowering, node in
    let value = try lowering.operand(node.inputs[0])
    let type = try lowering.type(node.inputs[0])
    let above = lowering.emit("relu", [("x", .value(value))], as: type)
    let below = lowering.emit(
      "minimum", [("x", .value(value)), ("y", try lowering.number(0))], as: type)
    let scaled = lowering.emit(
      "mul", [("x", .value(below)), ("y", .value(try lowering.operand(node.inputs[1])))], as: type)
    try lowering.emit("add", [("x", .value(above)), ("y", .value(scaled))], for: node.outputs[0])
  }

  private static let gelu: Rule = { lowering, node in
    let isTanh = try node.string("approximate", default: "none") == "tanh"
    try lowering.unary(
      "gelu", node, [("mode", .text(isTanh ? "TANH_APPROXIMATION" : "EXACT"))])
  }

  private static let clip: Rule = { lowering, node in
    func bound(_ index: Int, _ standard: Float) throws -> Float {
      guard lowering.input(index, of: node) != nil else { return standard }
      return try lowering.constantInput(index, of: node).values(as: Float.self).first ?? standard
    }
    try lowering.unary(
      "clip", node,
      [
        ("alpha", .number(try bound(1, -.greatestFiniteMagnitude))),
        ("beta", .number(try bound(2, .greatestFiniteMagnitude))),
      ])
  }

  private static let cast: Rule = { lowering, node in
    let value = try lowering.operand(node.inputs[0])
    let from =
      try lowering.draft.types[value]?.elementType ?? lowering.type(node.inputs[0]).elementType
    let to = try lowering.type(node.outputs[0]).elementType
    // A picture's bytes are floats here.
    if from == to { return lowering.bind(node.outputs[0], to: value) }
    let kinds: [ElementType: String] = [.float32: "fp32", .int32: "int32", .bool: "bool"]
    let kind = try kinds[to].orThrow { GraftError(.unsupported, "a conversion to \(to)") }
    try lowering.emit("cast", [("x", .value(value)), ("dtype", .text(kind))], for: node.outputs[0])
  }

  private mutating func binary(_ type: String, _ node: Node) throws {
    guard node.inputs.count > 1 else { return try Self.same(&self, node) }
    guard try type != "real_div" || isFloat(node.inputs[0]) else {
      throw GraftError(.unsupported, "a division of whole numbers")
    }
    if type == "pow", try self.type(node.inputs[0]) != self.type(node.outputs[0]),
      try !isFloat(node.inputs[1]) || !isFloat(node.inputs[0])
    {
      throw GraftError(.unsupported, "powers of whole numbers")
    }
    var (value, shape) = (try operand(node.inputs[0]), try self.shape(node.inputs[0]))
    for input in node.inputs[1...].dropLast() {
      shape = try shape.broadcast(with: try self.shape(input))
      value = emit(
        type, [("x", .value(value)), ("y", .value(try operand(input)))],
        as: TensorType(try self.type(node.outputs[0]).elementType, shape))
    }
    let last = try operand(node.inputs[node.inputs.count - 1])
    try emit(type, [("x", .value(value)), ("y", .value(last))], for: node.outputs[0])
  }

  private static let choice: Rule = { lowering, node in
    try lowering.emit(
      "select",
      [
        ("cond", .value(try lowering.operand(node.inputs[0]))),
        ("a", .value(try lowering.operand(node.inputs[1]))),
        ("b", .value(try lowering.operand(node.inputs[2]))),
      ], for: node.outputs[0])
  }
}
