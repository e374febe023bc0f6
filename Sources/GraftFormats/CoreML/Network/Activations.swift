import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let activations: [String: Rule] = [
    "activation": { context, layer in
      guard let kind = layer.parameters.numbers.last, let rule = functions[kind] else {
        throw GraftError(.unsupported, "its function is unknown")
      }
      let blob = try context.blob(layer.input(0))
      let options = try layer.parameters.message(kind)
      let value = try rule(&context, layer, options, blob)
      context.bind(try context.output(of: layer), value, blob.form)
    },
    "clampedReLU": { context, layer in
      let (slope, limit) = (try layer.parameters.float(1), try layer.parameters.float(2))
      try context.map(layer) { graph, value in
        let bent = graph.add("LeakyRelu", [value], ["alpha": .float(slope)])
        return graph.add("Min", [bent, try graph.number(Double(limit))])
      }
    },
  ]

  private typealias Function =
    @Sendable (
      inout NetworkContext, CoreMLLayer, CoreMLMessage, NetworkContext.Blob
    ) throws -> String

  /// The functions by the number of the field that holds their constants.
  private static let functions: [Int: Function] = [
    5: { context, _, options, blob in
      try context.graph.scaled(
        blob.value, Double(try options.float(1)), plus: Double(try options.float(2)))
    },
    10: { context, _, _, blob in context.graph.add("Relu", [blob.value]) },
    15: { context, _, options, blob in
      context.graph.add("LeakyRelu", [blob.value], ["alpha": .float(try options.float(1))])
    },
    20: { context, _, options, blob in
      let limit = try context.graph.number(Double(try options.float(1)))
      let reaches = context.graph.add("GreaterOrEqual", [blob.value, limit])
      return context.graph.add("Where", [reaches, blob.value, try context.graph.number(0)])
    },
    25: { context, layer, options, blob in
      let slope = try context.channelParameter(
        layer, try options.message(1), blob.form, named: "alpha")
      return context.graph.add("PRelu", [blob.value, slope])
    },
    30: { context, _, _, blob in context.graph.add("Tanh", [blob.value]) },
    31: { context, _, options, blob in
      let inner = try context.graph.scaled(blob.value, Double(try options.float(2)))
      return try context.graph.scaled(
        context.graph.add("Tanh", [inner]), Double(try options.float(1)))
    },
    40: { context, _, _, blob in context.graph.add("Sigmoid", [blob.value]) },
    41: { context, _, options, blob in
      context.graph.add(
        "HardSigmoid", [blob.value],
        ["alpha": .float(try options.float(1)), "beta": .float(try options.float(2))])
    },
    50: { context, _, options, blob in
      context.graph.add("Elu", [blob.value], ["alpha": .float(try options.float(1))])
    },
    60: { context, _, _, blob in context.graph.add("Softsign", [blob.value]) },
    70: { context, _, _, blob in context.graph.add("Softplus", [blob.value]) },
    71: { context, layer, options, blob in
      let factors = try [(1, "alpha"), (2, "beta")].map { field, name in
        try context.channelParameter(layer, try options.message(field), blob.form, named: name)
      }
      let inner = context.graph.add("Mul", [blob.value, factors[1]])
      return context.graph.add("Mul", [context.graph.add("Softplus", [inner]), factors[0]])
    },
  ]

  /// Layers that apply one function to every number.
  static let unaryLayers: [String: Rule] = {
    var table: [String: Rule] = [
      "unary": unary,
      "exp2": { context, layer in
        try context.map(layer) { graph, value in graph.add("Pow", [try graph.number(2), value]) }
      },
      "logicalNot": { context, layer in
        try context.map(layer) { graph, value in
          let isZero = graph.add("Equal", [value, try graph.number(0)])
          return graph.cast(isZero, to: .float32)
        }
      },
      "clip": { context, layer in
        let (low, high) = (try layer.parameters.float(1), try layer.parameters.float(2))
        try context.map(layer) { graph, value in
          graph.add(
            "Clip", [value, try graph.number(Double(low)), try graph.number(Double(high))])
        }
      },
      "gelu": { context, layer in
        let mode = try layer.parameters.int(1)
        try context.map(layer) { graph, value in try graph.gelu(value, mode: mode) }
      },
      "copy": { context, layer in
        try context.map(layer) { graph, value in graph.add("Identity", [value]) }
      },
    ]
    let plain = [
      "ceil": "Ceil", "floor": "Floor", "sign": "Sign", "round": "Round", "sin": "Sin",
      "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh",
      "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
      "erf": "Erf",
    ]
    for (kind, op) in plain {
      table[kind] = { context, layer in
        try context.map(layer) { graph, value in graph.add(op, [value]) }
      }
    }
    return table
  }()

  /// A function of scale * x + shift.
  private static let unary: Rule = { context, layer in
    let options = layer.parameters
    let kind = try options.int(1)
    let alpha = Double(try options.float(2))
    let epsilon = Double(try options.float(3, zeroMeans: 1e-6))
    let (shift, scale) = (
      Double(try options.float(4)), Double(try options.float(5, zeroMeans: 1))
    )
    try context.map(layer) { graph, value in
      let x = try graph.scaled(value, scale, plus: shift)
      func protected() throws -> String { graph.add("Add", [x, try graph.number(epsilon)]) }
      switch kind {
      case 0: return graph.add("Sqrt", [x])
      case 1: return graph.add("Reciprocal", [graph.add("Sqrt", [try protected()])])
      case 2: return graph.add("Reciprocal", [try protected()])
      case 3: return graph.add("Pow", [x, try graph.number(alpha)])
      case 4: return graph.add("Exp", [x])
      case 5: return graph.add("Log", [x])
      case 6: return graph.add("Abs", [x])
      case 7: return graph.add("Max", [x, try graph.number(alpha)])
      default: throw GraftError(.damaged, "its function is number \(kind)")
      }
    }
  }
}

extension CoreMLGraph {
  /// factor * value + offset; the value itself where they change nothing.
  mutating func scaled(_ value: String, _ factor: Double, plus offset: Double = 0) throws
    -> String
  {
    let product = factor == 1 ? value : add("Mul", [value, try number(factor)])
    return offset == 0 ? product : add("Add", [product, try number(offset)])
  }

  /// - Parameter mode: 0 exact, 1 with tanh, 2 with a sigmoid.
  mutating func gelu(_ value: String, mode: Int) throws -> String {
    switch mode {
    case 0: return add("Gelu", [value])
    case 1: return add("Gelu", [value], ["approximate": .string("tanh")])
    case 2: return add("Mul", [value, add("Sigmoid", [try scaled(value, 1.702)])])
    default: throw GraftError(.damaged, "its approximation is number \(mode)")
    }
  }
}
