import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let recurrentRules: [String: Rule] = [
    "UNIDIRECTIONAL_SEQUENCE_LSTM": { context, operation in
      let layer = RecurrentLayerRule(
        isTimeMajor: try operation.flag(3), mergesOutputs: true)
      try checkClip(try operation.float(1))
      try layer.lower(operation, &context, directions: 1) { context, value, isReverse in
        try LSTMInputs.forward.add(&context, operation, value, isReverse: isReverse)
      }
    },
    "BIDIRECTIONAL_SEQUENCE_LSTM": { context, operation in
      let layer = RecurrentLayerRule(
        isTimeMajor: try operation.flag(4, default: true),
        mergesOutputs: try operation.flag(3))
      try checkClip(try operation.float(1))
      guard !(39...47).contains(where: { context.hasInput($0, of: operation) }) else {
        throw GraftError(.unsupported, "an auxiliary input")
      }
      try layer.lower(operation, &context, directions: 2) { context, value, isReverse in
        let inputs = isReverse ? LSTMInputs.backward : LSTMInputs.forwardOfTwo
        return try inputs.add(&context, operation, value, isReverse: isReverse)
      }
    },
    "UNIDIRECTIONAL_SEQUENCE_RNN": { context, operation in
      let layer = RecurrentLayerRule(
        isTimeMajor: try operation.flag(0), mergesOutputs: true)
      try layer.lower(operation, &context, directions: 1) { context, value, isReverse in
        try simpleLayer(&context, operation, value, first: 1, isReverse: isReverse)
      }
    },
    "BIDIRECTIONAL_SEQUENCE_RNN": { context, operation in
      let layer = RecurrentLayerRule(
        isTimeMajor: try operation.flag(0),
        mergesOutputs: try operation.flag(2))
      guard !(9...11).contains(where: { context.hasInput($0, of: operation) }) else {
        throw GraftError(.unsupported, "an auxiliary input")
      }
      try layer.lower(operation, &context, directions: 2) { context, value, isReverse in
        try simpleLayer(
          &context, operation, value, first: isReverse ? 5 : 1, isReverse: isReverse)
      }
    },
  ]

  /// ONNX limits what goes into the gates, TensorFlow Lite the cell's state: a limit that states in
  /// use do not reach is left out.
  private static func checkClip(_ limit: Float) throws {
    guard limit == 0 || limit >= 10 else {
      throw GraftError(.unsupported, "the cell's state is limited to \(limit)")
    }
  }

  /// A layer without gates. Inputs from `first` on: weights, recurrent weights, bias, state.
  private static func simpleLayer(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, _ value: String, first: Int,
    isReverse: Bool
  ) throws -> String {
    let names: [FusedActivation: String] = [.relu: "Relu", .tanh: "Tanh", .none: "Affine"]
    guard let activation = names[try FusedActivation(operation, field: 1)] else {
      throw GraftError(.unsupported, "its activation")
    }
    let units = try context.unitCount(try context.input(first, of: operation))
    let front = try context.ints([0])
    let parts = try (first..<first + 4).map { index in
      context.add(
        "Unsqueeze", [try context.float(try context.input(index, of: operation)), front])
    }
    let biases = context.add(
      "Concat",
      [
        parts[2], context.initializer(try Tensor(zeros: [1, units]), named: "zeros"),
      ], ["axis": .int(1)])
    var attributes: [String: Attribute] = [
      "hidden_size": .int(units), "activations": .strings([Array(activation.utf8)]),
      "direction": .string(isReverse ? "reverse" : "forward"),
    ]
    if activation == "Affine" {
      attributes["activation_alpha"] = .floats([1])
      attributes["activation_beta"] = .floats([0])
    }
    return context.add("RNN", [value, parts[0], parts[1], biases, "", parts[3]], attributes)
  }
}

/// What recurrent layers have in common: the order of the sequence's axes, and one or two results.
private struct RecurrentLayerRule {
  let isTimeMajor: Bool
  let mergesOutputs: Bool

  /// - Parameter make: adds the layer of one direction over [time, batch, values].
  func lower(
    _ operation: TFLiteOperator, _ context: inout LoweringContext, directions: Int,
    _ make: (inout LoweringContext, String, Bool) throws -> String
  ) throws {
    var value = try context.float(try context.input(0, of: operation))
    if !isTimeMajor { value = context.add("Transpose", [value], ["perm": .ints([1, 0, 2])]) }
    var results: [String] = []
    for direction in 0..<directions {
      // The layer's result has an axis of directions behind that of time.
      let sequence = try make(&context, value, direction == 1)
      var result = context.add("Squeeze", [sequence, try context.ints([1])])
      if !isTimeMajor { result = context.add("Transpose", [result], ["perm": .ints([1, 0, 2])]) }
      results.append(result)
    }
    if mergesOutputs, results.count > 1 {
      results = [context.add("Concat", results, ["axis": .int(-1)])]
    }
    for (index, result) in results.enumerated() {
      try context.store(result, as: try context.output(index, of: operation))
    }
  }
}

/// Where the inputs of an LSTM of one direction are. Each first number is the input gate's; those of
/// forget gate, cell and output gate follow.
private struct LSTMInputs {
  let weights: Int
  let recurrent: Int
  /// Without one for the cell.
  let peepholes: Int
  let biases: Int
  let projection: Int
  let states: [Int]
  /// Factors of layer normalization.
  let factors: Range<Int>

  static let forward = LSTMInputs(
    weights: 1, recurrent: 5, peepholes: 9, biases: 12, projection: 16, states: [18, 19],
    factors: 20..<24)
  static let forwardOfTwo = LSTMInputs(
    weights: 1, recurrent: 5, peepholes: 9, biases: 12, projection: 16, states: [35, 36],
    factors: 0..<0)
  static let backward = LSTMInputs(
    weights: 18, recurrent: 22, peepholes: 26, biases: 29, projection: 33, states: [37, 38],
    factors: 0..<0)

  /// ONNX has the gates in the order input, output, forget, cell; the peepholes without the cell.
  private static let gates = [0, 3, 1, 2]
  private static let holes = [0, 2, 1]

  func add(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, _ value: String,
    isReverse: Bool
  ) throws -> String {
    guard context.hasInput(weights, of: operation), context.hasInput(recurrent, of: operation),
      !([projection] + factors).contains(where: { context.hasInput($0, of: operation) })
    else {
      throw GraftError(.unsupported, "coupled gates, a projection or layer normalization")
    }
    guard try operation.byte(0) == 4 else {
      throw GraftError(.unsupported, "another activation than tanh")
    }
    let units = try context.unitCount(try context.input(weights + 1, of: operation))
    let inner = context.initializer(try Tensor(zeros: [1, 4 * units]), named: "zeros")
    let biases = context.add(
      "Concat", [try joined(self.biases, Self.gates, units, operation, &context), inner],
      ["axis": .int(1)])
    let hasPeepholes = (peepholes..<peepholes + 3).contains {
      context.hasInput($0, of: operation)
    }
    let front = try context.ints([0])
    let initial = try states.map { index in
      context.add(
        "Unsqueeze", [try context.float(try context.input(index, of: operation)), front])
    }
    return context.add(
      "LSTM",
      [
        value, try joined(weights, Self.gates, units, operation, &context),
        try joined(recurrent, Self.gates, units, operation, &context), biases, "",
      ] + initial
        + [hasPeepholes ? try joined(peepholes, Self.holes, units, operation, &context) : ""],
      ["hidden_size": .int(units), "direction": .string(isReverse ? "reverse" : "forward")])
  }

  /// What each gate has, in another order, one behind the other.
  private func joined(
    _ first: Int, _ order: [Int], _ units: Int, _ operation: TFLiteOperator,
    _ context: inout LoweringContext
  ) throws -> String {
    let parts = try order.map { gate -> String in
      guard context.hasInput(first + gate, of: operation) else {
        return context.initializer(try Tensor(zeros: [units]), named: "zeros")
      }
      return try context.float(try context.input(first + gate, of: operation))
    }
    let all = context.add("Concat", parts, ["axis": .int(0)])
    return context.add("Unsqueeze", [all, try context.ints([0])])
  }
}

extension LoweringContext {
  /// How many rows a layer's weights have.
  fileprivate func unitCount(_ weights: TFLiteTensor) throws -> Int {
    let count = try filterShape(weights, rank: 2)[0]
    guard count <= 65_536 else {
      throw GraftError(.unsupported, "a recurrent layer of \(count) units")
    }
    return count
  }
}
