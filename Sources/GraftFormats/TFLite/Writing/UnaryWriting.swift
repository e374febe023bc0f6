import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let unaryFunctions: [String: Rule] = named.merging(composed) { first, _ in first }

  /// One operator of TensorFlow Lite each.
  private static let named: [String: Rule] = [
    "Abs": "ABS", "Ceil": "CEIL", "Cos": "COS", "Exp": "EXP", "Floor": "FLOOR",
    "HardSwish": "HARD_SWISH", "Log": "LOG", "Neg": "NEG", "Not": "LOGICAL_NOT", "Relu": "RELU",
    "Round": "ROUND", "Sigmoid": "LOGISTIC", "Sign": "SIGN", "Sin": "SIN", "Sqrt": "SQRT",
    "Tanh": "TANH",
  ].mapValues { op in { context, node in try context.emitUnary(op, node) } }

  private static let composed: [String: Rule] = [
    "Identity": alias, "Dropout": alias,
    "Elu": { context, node in
      guard try node.float("alpha", default: 1) == 1 else {
        throw GraftError(.unsupported, "another alpha than 1")
      }
      try context.emitUnary("ELU", node)
    },
    "Gelu": { context, node in
      let isApproximate = try node.string("approximate", default: "none") == "tanh"
      try context.emitUnary("GELU", node, options: TFLiteOptions.flag(isApproximate))
    },
    "LeakyRelu": { context, node in
      let slope = try node.float("alpha", default: 0.01)
      try context.emitUnary("LEAKY_RELU", node, options: TFLiteOptions.make { $0.float(0, slope) })
    },
    "Clip": clip,
    "HardSigmoid": { context, node in
      let (alpha, beta) = (
        try node.float("alpha", default: 0.2), try node.float("beta", default: 0.5)
      )
      try context.emitSteps(node) { context, x, step in
        let scaled = context.emit(
          "MUL", [x, context.number(alpha)], like: x, named: step + "/scaled",
          options: TFLiteOptions.activation(.none))
        let moved = context.emit(
          "ADD", [scaled, context.number(beta)], like: x, named: step + "/moved",
          options: TFLiteOptions.activation(.none))
        return ("RELU_0_TO_1", [moved])
      }
    },
    "Reciprocal": { context, node in
      try context.emitSteps(node) { context, x, step in ("DIV", [context.number(1), x]) }
    },
    "Softplus": { context, node in
      // max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
      try context.emitSteps(node) { context, x, step in
        let size = context.emit("ABS", [x], like: x, named: step + "/size")
        let negative = context.emit("NEG", [size], like: x, named: step + "/negative")
        let power = context.emit("EXP", [negative], like: x, named: step + "/power")
        let sum = context.emit(
          "ADD", [power, context.number(1)], like: x, named: step + "/sum",
          options: TFLiteOptions.activation(.none))
        let logarithm = context.emit("LOG", [sum], like: x, named: step + "/logarithm")
        return ("ADD", [context.emit("RELU", [x], like: x, named: step + "/positive"), logarithm])
      }
    },
  ]

  /// The same value under another name.
  static let alias: Rule = { context, node in
    guard node.outputs.dropFirst().allSatisfy({ !context.isRead($0) }) else {
      throw GraftError(.unsupported, "its second output")
    }
    let input = try context.required(0, of: node)
    let order = try context.order(of: input)
    context.bind(node.outputs[0], try context.tensor(input, order: order), order: order)
  }

  private static let clip: Rule = { context, node in
    if let activation = context.activation(node), activation != .none {
      return try context.emitUnary(activation.operatorName, node)
    }
    func bound(_ index: Int) throws -> Tensor? {
      try context.input(index, of: node).map { _ in try context.constantInput(index, of: node) }
    }
    let bounds = [("MAXIMUM", try bound(1)), ("MINIMUM", try bound(2))].compactMap { op, bound in
      bound.map { (op, $0) }
    }
    let input = try context.required(0, of: node)
    guard !bounds.isEmpty else { return try alias(&context, node) }
    let order = try context.order(of: input)
    var value = try context.tensor(input, order: order)
    for (index, (op, bound)) in bounds.enumerated() {
      let limit = context.constantTensor(
        try bound.reshaped(to: []), named: "bound",
        key: "bound \(bound.elementType) \(bound.number ?? .nan)")
      guard index == bounds.count - 1 else {
        value = context.emit(op, [value, limit], like: value, named: node.outputs[0] + "/bound")
        continue
      }
      try context.emit(op, [value, limit], for: node.outputs[0], order: order)
    }
  }
}

extension WritingContext {
  /// An operator on one input, in whatever order its axes are.
  mutating func emitUnary(_ op: String, _ node: Node, options: FlatBufferWriter? = nil) throws {
    let input = try required(0, of: node)
    let order = try order(of: input)
    try emit(
      op, [try tensor(input, order: order)], for: node.outputs[0], order: order, options: options)
  }

  /// Several operators on one input; `make` adds all but the last, which it gives.
  mutating func emitSteps(
    _ node: Node,
    _ make: (inout Self, _ input: Int, _ name: String) throws -> (op: String, inputs: [Int])
  ) throws {
    let input = try required(0, of: node)
    let order = try order(of: input)
    let (op, inputs) = try make(
      &self, try tensor(input, order: order), node.outputs[0])
    let hasActivation = ["ADD", "SUB", "MUL", "DIV"].contains(op)
    try emit(
      op, inputs, for: node.outputs[0], order: order,
      options: hasActivation ? TFLiteOptions.activation(.none) : nil)
  }
}
