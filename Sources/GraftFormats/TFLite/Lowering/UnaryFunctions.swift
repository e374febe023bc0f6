import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let unaryFunctions: [String: Rule] = named.merging(composed) { first, _ in first }

  /// One operator of ONNX each.
  private static let named: [String: Rule] = [
    "ABS": "Abs", "CEIL": "Ceil", "COS": "Cos", "EXP": "Exp", "FLOOR": "Floor",
    "HARD_SWISH": "HardSwish", "LOG": "Log", "LOGICAL_NOT": "Not", "LOGISTIC": "Sigmoid",
    "NEG": "Neg", "RELU": "Relu", "ROUND": "Round", "SIGN": "Sign", "SIN": "Sin", "SQRT": "Sqrt",
    "TANH": "Tanh", "ELU": "Elu",
  ].mapValues { op in
    { context, operation in
      try context.elementwise(operation) { context, values in context.add(op, [values[0]]) }
    }
  }

  private static let composed: [String: Rule] = [
    "RELU6": clip(0, 6),
    "RELU_N1_TO_1": clip(-1, 1),
    "RELU_0_TO_1": clip(0, 1),
    "RSQRT": { context, operation in
      try context.elementwise(operation) { context, values in
        context.add("Reciprocal", [context.add("Sqrt", [values[0]])])
      }
    },
    "SQUARE": { context, operation in
      try context.elementwise(operation) { context, values in
        context.add("Mul", [values[0], values[0]])
      }
    },
    "GELU": { context, operation in
      let isApproximate = try operation.flag(0)
      try context.elementwise(operation) { context, values in
        context.add(
          "Gelu", [values[0]], ["approximate": .string(isApproximate ? "tanh" : "none")])
      }
    },
    "LEAKY_RELU": { context, operation in
      let slope = try operation.float(0)
      try context.elementwise(operation) { context, values in
        context.add("LeakyRelu", [values[0]], ["alpha": .float(slope)])
      }
    },
    "CAST": { context, operation in
      // Between the numbers as they are stored, also of quantized tensors.
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard let type = output.elementType, type != .string, type != .complex64 else {
        throw GraftError(.unsupported, "a conversion to a type that Graft does not have")
      }
      let isChannelsFirst = context.prefersChannelsFirst(input)
      let value = try context.stored(input, channelsFirst: isChannelsFirst)
      context.bind(
        context.add("Cast", [value], ["to": .int(type.rawValue)]), to: output,
        channelsFirst: isChannelsFirst)
    },
    "ZEROS_LIKE": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard !context.isQuantized(output), let type = output.elementType, type != .string else {
        throw GraftError(.unsupported, "zeros of a quantized type")
      }
      let shape = context.add("Shape", [try context.stored(input)])
      context.bind(
        context.add(
          "ConstantOfShape", [shape], ["value": .tensor(try Tensor(zeros: [1], type))]), to: output)
    },
  ]

  private static func clip(_ lowest: Float, _ highest: Float) -> Rule {
    { context, operation in
      try context.elementwise(operation) { context, values in
        try context.clipped(values[0], lowest, highest)
      }
    }
  }
}
