import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ProgramOperators {
  /// Operations on every number of one value.
  static let unaryOperations: [String: Rule] = {
    var table: [String: Rule] = [
      "square": { context, operation in
        let x = try context.value(operation, "x")
        try context.finish(operation, context.graph.add("Mul", [x, x]))
      },
      "rsqrt": { context, operation in
        let x = try shifted(&context, operation, 1e-12)
        try context.finish(
          operation, context.graph.add("Reciprocal", [context.graph.add("Sqrt", [x])]))
      },
      "inverse": { context, operation in
        let x = try shifted(&context, operation, 1e-4)
        try context.finish(operation, context.graph.add("Reciprocal", [x]))
      },
      "log": { context, operation in
        let x = try shifted(&context, operation, .leastNonzeroMagnitude)
        try context.finish(operation, context.graph.add("Log", [x]))
      },
      "exp2": { context, operation in
        let x = try context.value(operation, "x")
        try context.finish(operation, context.graph.add("Pow", [try context.graph.number(2), x]))
      },
      "clip": { context, operation in
        let bounds = [
          try context.float(operation, "alpha", 0), try context.float(operation, "beta", 1),
        ]
        let x = try context.value(operation, "x")
        let limits = try bounds.map { try context.graph.number(Double($0)) }
        try context.finish(operation, context.graph.add("Clip", [x] + limits))
      },
      "threshold": { context, operation in
        let alpha = try context.float(operation, "alpha", 0)
        let x = try context.value(operation, "x")
        try context.finish(
          operation, context.graph.add("Max", [x, try context.graph.number(Double(alpha))]))
      },
      "cast": { context, operation in
        let type = try context.string(operation, "dtype", "fp32")
        let x = try context.value(operation, "x")
        let target: ElementType =
          type.hasPrefix("fp") ? .float32 : type == "bool" ? .bool : .int64
        let value =
          context.graph.elementType(x) == target
          ? context.graph.add("Identity", [x]) : context.graph.cast(x, to: target)
        try context.finish(operation, value)
      },
    ]
    let plain = [
      "abs": "Abs", "acos": "Acos", "asin": "Asin", "atan": "Atan", "atanh": "Atanh",
      "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor",
      "round": "Round", "sign": "Sign", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt",
      "tan": "Tan", "tanh": "Tanh", "logical_not": "Not", "identity": "Identity", "relu": "Relu",
      "sigmoid": "Sigmoid", "softplus": "Softplus", "softsign": "Softsign",
    ]
    for (kind, op) in plain {
      table[kind] = { context, operation in
        let x = try context.value(operation, "x")
        try context.finish(operation, context.graph.add(op, [x]))
      }
    }
    return table
  }()

  private static func shifted(
    _ context: inout ProgramContext, _ operation: ProgramOperation, _ standard: Float
  ) throws -> String {
    let epsilon = try context.float(operation, "epsilon", standard)
    let x = try context.value(operation, "x")
    return epsilon == 0
      ? x : context.graph.add("Add", [x, try context.graph.number(Double(epsilon))])
  }

  static let activationOperations: [String: Rule] = [
    "relu6": { context, operation in
      let x = try context.value(operation, "x")
      let limits = [try context.graph.number(0), try context.graph.number(6)]
      try context.finish(operation, context.graph.add("Clip", [x] + limits))
    },
    "leaky_relu": { context, operation in
      let alpha = try context.float(operation, "alpha", 0.01)
      let x = try context.value(operation, "x")
      try context.finish(
        operation, context.graph.add("LeakyRelu", [x], ["alpha": .float(alpha)]))
    },
    "elu": { context, operation in
      let alpha = try context.float(operation, "alpha", 1)
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add("Elu", [x], ["alpha": .float(alpha)]))
    },
    "prelu": { context, operation in
      let rank = try context.rank(operation)
      let x = try context.value(operation, "x")
      let alpha = try context.value(operation, "alpha")
      let shape = [-1] + Array(repeating: 1, count: max(0, rank - 2))
      let slope = try context.graph.reshaped(alpha, shape)
      try context.finish(operation, context.graph.add("PRelu", [x, slope]))
    },
    "silu": { context, operation in
      let x = try context.value(operation, "x")
      let gate = context.graph.add("Sigmoid", [x])
      try context.finish(operation, context.graph.add("Mul", [x, gate]))
    },
    "gelu": { context, operation in
      let modes = ["EXACT": 0, "TANH_APPROXIMATION": 1, "SIGMOID_APPROXIMATION": 2]
      let name = try context.string(operation, "mode", "EXACT")
      let mode = try modes[name].orThrow { GraftError(.damaged, "its mode is '\(name)'") }
      let x = try context.value(operation, "x")
      try context.finish(operation, try context.graph.gelu(x, mode: mode))
    },
    "sigmoid_hard": { context, operation in
      let attributes: [String: Attribute] = [
        "alpha": .float(try context.float(operation, "alpha", 0.2)),
        "beta": .float(try context.float(operation, "beta", 0.5)),
      ]
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add("HardSigmoid", [x], attributes))
    },
    "linear_activation": { context, operation in
      let alpha = Double(try context.float(operation, "alpha", 1))
      let beta = Double(try context.float(operation, "beta", 0))
      let x = try context.value(operation, "x")
      let product = context.graph.add("Mul", [x, try context.graph.number(alpha)])
      try context.finish(operation, try context.graph.scaled(product, 1, plus: beta))
    },
    "scaled_tanh": { context, operation in
      let alpha = Double(try context.float(operation, "alpha", 1))
      let beta = Double(try context.float(operation, "beta", 1))
      let inner = try context.graph.scaled(try context.value(operation, "x"), beta)
      try context.finish(
        operation, try context.graph.scaled(context.graph.add("Tanh", [inner]), alpha))
    },
    "clamped_relu": { context, operation in
      let alpha = try context.float(operation, "alpha", 0)
      let beta = Double(try context.float(operation, "beta", 1))
      let x = try context.value(operation, "x")
      let bent = context.graph.add("LeakyRelu", [x], ["alpha": .float(alpha)])
      try context.finish(
        operation, context.graph.add("Min", [bent, try context.graph.number(beta)]))
    },
    "thresholded_relu": { context, operation in
      let alpha = Double(try context.float(operation, "alpha", 1))
      let x = try context.value(operation, "x")
      let reaches = context.graph.add("GreaterOrEqual", [x, try context.graph.number(alpha)])
      try context.finish(
        operation, context.graph.add("Where", [reaches, x, try context.graph.number(0)]))
    },
    "softmax": { context, operation in
      let axis = try context.int(operation, "axis") ?? -1
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add("Softmax", [x], ["axis": .int(axis)]))
    },
  ]

  /// Operations that combine two values element by element.
  static let binaryOperations: [String: Rule] = {
    var table: [String: Rule] = [
      "not_equal": { context, operation in
        let (x, y) = try pair(&context, operation)
        let isEqual = context.graph.add("Equal", [x, y])
        try context.finish(operation, context.graph.add("Not", [isEqual]))
      },
      "floor_div": { context, operation in
        let (x, y) = try pair(&context, operation)
        let quotient = context.graph.add("Div", [x, y])
        guard context.graph.elementType(x) == .float32 else {
          throw GraftError(.unsupported, "rounded quotients of whole numbers")
        }
        try context.finish(operation, context.graph.add("Floor", [quotient]))
      },
      "mod": { context, operation in
        let (x, y) = try pair(&context, operation)
        guard context.graph.elementType(x) == .float32 else {
          return try context.finish(operation, context.graph.add("Mod", [x, y]))
        }
        let quotient = context.graph.add("Floor", [context.graph.add("Div", [x, y])])
        let product = context.graph.add("Mul", [quotient, y])
        try context.finish(operation, context.graph.add("Sub", [x, product]))
      },
      "select": { context, operation in
        let condition = try context.value(operation, "cond")
        let values = [try context.value(operation, "a"), try context.value(operation, "b")]
        let truth = context.graph.cast(condition, to: .bool)
        try context.finish(operation, context.graph.add("Where", [truth] + values))
      },
    ]
    let plain = [
      "add": "Add", "sub": "Sub", "mul": "Mul", "real_div": "Div", "pow": "Pow",
      "maximum": "Max", "minimum": "Min", "equal": "Equal", "greater": "Greater",
      "greater_equal": "GreaterOrEqual", "less": "Less", "less_equal": "LessOrEqual",
      "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor",
    ]
    for (kind, op) in plain {
      table[kind] = { context, operation in
        let (x, y) = try pair(&context, operation)
        try context.finish(operation, context.graph.add(op, [x, y]))
      }
    }
    return table
  }()

  /// Both values in one element type.
  private static func pair(_ context: inout ProgramContext, _ operation: ProgramOperation) throws
    -> (String, String)
  {
    let (x, y) = (try context.value(operation, "x"), try context.value(operation, "y"))
    let types = [context.graph.elementType(x), context.graph.elementType(y)]
    guard types[0] != types[1], types.contains(.float32) else { return (x, y) }
    return (context.graph.cast(x, to: .float32), context.graph.cast(y, to: .float32))
  }
}
