import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let recurrentRules: [String: Rule] = [
    "UNIDIRECTIONAL_SEQUENCE_LSTM": sequenceLSTM,
    "UNIDIRECTIONAL_SEQUENCE_RNN": sequenceRNN,
  ]

  /// Inputs: 0 the sequence; 1 to 4 weights of input, forget, cell and output gate; 5 to 8 the
  /// recurrent ones; 9 to 11 peepholes; 12 to 15 biases; 16 and 17 a projection; 18 and 19 the
  /// state; 20 to 23 factors of layer normalization.
  private static let sequenceLSTM: Rule = { context, operation in
    let options = operation.options
    let isPlain =
      [1, 5].allSatisfy { context.hasInput($0, of: operation) }
      && ![16, 20, 21, 22, 23].contains { context.hasInput($0, of: operation) }
    guard isPlain else {
      throw GraftError(.unsupported, "coupled gates, a projection or layer normalization")
    }
    guard try options?.integer(0, Int8.self) ?? 4 == 4 else {
      throw GraftError(.unsupported, "another activation than tanh")
    }
    let isTimeMajor = try options?.bool(3) ?? false
    let units = try context.filterShape(try context.input(2, of: operation), rank: 2)[0]
    // ONNX has the gates in the order input, output, forget, cell.
    let gates = [0, 3, 1, 2]
    func joined(_ first: Int, _ order: [Int]) throws -> String {
      let parts = try order.map { gate -> String in
        guard context.hasInput(first + gate, of: operation) else {
          return context.initializer(try Tensor(zeros: [units]), named: "zeros")
        }
        return try context.float(try context.input(first + gate, of: operation))
      }
      let all = context.add("Concat", parts, ["axis": .int(0)])
      return context.add("Unsqueeze", [all, try context.ints([0])])
    }
    let weights = try joined(1, gates)
    let recurrent = try joined(5, gates)
    let biases = context.add(
      "Concat",
      [
        try joined(12, gates),
        context.initializer(try Tensor(zeros: [1, 4 * units]), named: "zeros"),
      ], ["axis": .int(1)])
    let hasPeepholes = (9...11).contains { context.hasInput($0, of: operation) }
    // ONNX has the peepholes in the order input, output, forget.
    let peepholes = hasPeepholes ? try joined(9, [0, 2, 1]) : ""
    var attributes: [String: Attribute] = ["hidden_size": .int(units)]
    let limit = try options?.float(1) ?? 0
    let input = try context.input(0, of: operation)
    var value = try context.float(input)
    if !isTimeMajor { value = context.add("Transpose", [value], ["perm": .ints([1, 0, 2])]) }
    attributes["direction"] = .string("forward")
    let states = try [18, 19].map { index -> String in
      let state = try context.float(try context.input(index, of: operation))
      return context.add("Unsqueeze", [state, try context.ints([0])])
    }
    if limit > 0 {
      // ONNX limits what goes into the gates, TensorFlow Lite the cell's state.
      try checkClip(limit)
    }
    let sequence = context.add(
      "LSTM", [value, weights, recurrent, biases, ""] + states + [peepholes], attributes)
    try finish(&context, operation, sequence, isTimeMajor: isTimeMajor, activation: .none)
  }

  /// A limit of the cell's state that sequences in use do not reach is left out.
  private static func checkClip(_ limit: Float) throws {
    guard limit >= 10 else {
      throw GraftError(.unsupported, "the cell's state is limited to \(limit)")
    }
  }

  /// Inputs: the sequence, weights, recurrent weights, bias, state.
  private static let sequenceRNN: Rule = { context, operation in
    let options = operation.options
    let isTimeMajor = try options?.bool(0) ?? false
    let activations: [FusedActivation: String] = [.relu: "Relu", .tanh: "Tanh", .none: "Affine"]
    guard let activation = activations[try FusedActivation(operation, field: 1)] else {
      throw GraftError(.unsupported, "its activation")
    }
    let units = try context.filterShape(try context.input(1, of: operation), rank: 2)[0]
    let front = try context.ints([0])
    func unsqueezed(_ index: Int) throws -> String {
      context.add(
        "Unsqueeze", [try context.float(try context.input(index, of: operation)), front])
    }
    var value = try context.float(try context.input(0, of: operation))
    if !isTimeMajor { value = context.add("Transpose", [value], ["perm": .ints([1, 0, 2])]) }
    let (weights, recurrent) = (try unsqueezed(1), try unsqueezed(2))
    let biases = context.add(
      "Concat",
      [
        try unsqueezed(3),
        context.initializer(try Tensor(zeros: [1, units]), named: "zeros"),
      ], ["axis": .int(1)])
    var attributes: [String: Attribute] = [
      "hidden_size": .int(units), "activations": .strings([Array(activation.utf8)]),
    ]
    if activation == "Affine" {
      attributes["activation_alpha"] = .floats([1])
      attributes["activation_beta"] = .floats([0])
    }
    let sequence = context.add(
      "RNN", [value, weights, recurrent, biases, "", try unsqueezed(4)], attributes)
    try finish(&context, operation, sequence, isTimeMajor: isTimeMajor, activation: .none)
  }

  /// Takes out the axis of directions and puts the batch in front again.
  private static func finish(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, _ sequence: String,
    isTimeMajor: Bool, activation: FusedActivation
  ) throws {
    var value = context.add("Squeeze", [sequence, try context.ints([1])])
    if !isTimeMajor { value = context.add("Transpose", [value], ["perm": .ints([1, 0, 2])]) }
    try context.store(value, as: try context.output(0, of: operation), activation: activation)
  }
}
