import GraftDiagnostics
import GraftGraph
import GraftTensor

extension FixedPointLowering {
  static let arithmetic: [String: Rule] = [
    "ADD": addition("FixedPointAdd"),
    "SUB": addition("FixedPointSub"),
    "MUL": { context, operation in
      let (inputs, output) = try context.pair(operation)
      let attributes = try context.pairAttributes(
        inputs, output, FusedActivation(operation, field: 0))
      context.addExact(
        "FixedPointMul", try inputs.map { try context.stored($0) }, attributes, as: output)
    },
    "SQUARED_DIFFERENCE": { context, operation in
      let (inputs, output) = try context.pair(operation)
      guard output.elementType == .int8 else {
        throw GraftError(.unsupported, "exact arithmetic on \(output.place)")
      }
      let attributes = try context.pairAttributes(inputs, output, .none)
      context.addExact(
        "FixedPointSquaredDifference", try inputs.map { try context.stored($0) }, attributes,
        as: output)
    },
    "PRELU": { context, operation in
      let (inputs, output) = try context.pair(operation)
      guard output.elementType != .int16 else {
        throw GraftError(.unsupported, "exact arithmetic on \(output.place)")
      }
      let attributes = try context.pairAttributes(inputs, output, .none)
      context.addExact(
        "FixedPointPRelu", try inputs.map { try context.stored($0) }, attributes, as: output)
    },
    "MAXIMUM": extremum("Max"),
    "MINIMUM": extremum("Min"),
    "BATCH_MATMUL": batchProduct,
    "LESS": comparison("less"), "LESS_EQUAL": comparison("less_equal"),
    "GREATER": comparison("greater"), "GREATER_EQUAL": comparison("greater_equal"),
    "EQUAL": comparison("equal"), "NOT_EQUAL": comparison("not_equal"),
  ]

  private static func comparison(_ kind: String) -> Rule {
    { context, operation in
      let inputs = [try context.input(0, of: operation), try context.input(1, of: operation)]
      try context.requireOneType(inputs[0], inputs[1])
      guard inputs[0].elementType != .int16 else {
        throw GraftError(.unsupported, "exact arithmetic on \(inputs[0].place)")
      }
      let attributes = try context.exactAttributes("a", inputs[0])
        .merging(try context.exactAttributes("b", inputs[1])) { $1 }
        .merging(["comparison": .string(kind)]) { $1 }
      context.addExact(
        "FixedPointComparison", try inputs.map { try context.stored($0) }, attributes,
        as: try context.output(0, of: operation))
    }
  }

  private static let batchProduct: Rule = { context, operation in
    let (inputs, output) = try context.pair(operation)
    guard output.elementType != .uint8 else {
      throw GraftError(.unsupported, "exact arithmetic on \(output.place)")
    }
    let attributes = try context.pairAttributes(inputs, output, .none)
    let operands = try inputs.enumerated().map { index, tensor -> String in
      let value = try context.stored(tensor)
      guard try operation.options?.bool(index) ?? false else { return value }
      guard let rank = tensor.shape?.count, rank >= 2 else {
        throw GraftError(.unsupported, "it transposes \(tensor.place), whose rank is unknown")
      }
      let order = Array(0..<rank - 2) + [rank - 1, rank - 2]
      return context.add("Transpose", [value], ["perm": .ints(order)])
    }
    context.addExact("FixedPointMatMul", operands, attributes, as: output)
  }

  private static func addition(_ op: String) -> Rule {
    { context, operation in
      let (inputs, output) = try context.pair(operation)
      let attributes = try context.pairAttributes(
        inputs, output, FusedActivation(operation, field: 0)
      ).merging(try context.powersOfTwo(inputs, output, operation)) { $1 }
      context.addExact(op, try inputs.map { try context.stored($0) }, attributes, as: output)
    }
  }

  /// Integers of one scale are in the order of what they mean.
  private static func extremum(_ op: String) -> Rule {
    { context, operation in
      let (inputs, output) = try context.pair(operation)
      guard context.sharesQuantization(inputs + [output]), output.elementType != .int16 else {
        throw GraftError(.unsupported, "exact arithmetic on several scales")
      }
      context.bind(context.add(op, try inputs.map { try context.stored($0) }), to: output)
    }
  }
}

extension LoweringContext {
  /// The two inputs and the output of an operator, all of one type.
  fileprivate func pair(_ operation: TFLiteOperator) throws -> ([TFLiteTensor], TFLiteTensor) {
    let (a, b) = (try input(0, of: operation), try input(1, of: operation))
    let output = try output(0, of: operation)
    try requireOneType(a, b, output)
    return ([a, b], output)
  }

  fileprivate func pairAttributes(
    _ inputs: [TFLiteTensor], _ output: TFLiteTensor, _ activation: FusedActivation
  ) throws -> [String: Attribute] {
    try exactAttributes("a", inputs[0]).merging(try exactAttributes("b", inputs[1])) { $1 }
      .merging(try exactAttributes("y", output)) { $1 }
      .merging(try exactRange(output, activation)) { $1 }
  }

  /// The attributes of an int16 sum whose scales are powers of two; empty for others.
  fileprivate func powersOfTwo(
    _ inputs: [TFLiteTensor], _ output: TFLiteTensor, _ operation: TFLiteOperator
  ) throws -> [String: Attribute] {
    guard output.elementType == .int16, try operation.options?.bool(1, default: true) ?? true else {
      return [:]
    }
    let powers = try (inputs + [output]).map {
      nearestPowerOfTwo(try exactQuantization($0).scale)
    }
    guard let a = powers[0], let b = powers[1], let y = powers[2], a <= y, b <= y else {
      return [:]
    }
    return [
      "a_scale": .float(a), "b_scale": .float(b), "y_scale": .float(y), "powers_of_two": .int(1),
    ]
  }

  /// The power of two that a scale is, but for a thousandth of its logarithm.
  private func nearestPowerOfTwo(_ scale: Float) -> Float? {
    let power = Float(
      sign: .plus, exponent: scale.exponent + (scale.significand > 1.5 ? 1 : 0), significand: 1)
    return abs(scale / power - 1) < 1e-3 * 0.6931 ? power : nil
  }
}
