import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let recurrentRules: [String: Rule] = ["LSTM": { try $0.lstm($1) }]

  /// One direction after the other; step by step in programs. Weights get the language's order of gates: input, forget, output,
  /// candidate.
  private mutating func lstm(_ node: Node) throws {
    guard input(4, of: node) == nil, input(7, of: node) == nil,
      !["activations", "clip", "input_forget"].contains(where: node.has),
      try node.int("layout", default: 0) == 0
    else {
      throw GraftError(
        .unsupported,
        "lengths of sequences, peepholes, other activations, clipping or another layout")
    }
    let direction = try node.string("direction", default: "forward")
    let backwards = direction == "bidirectional" ? [false, true] : [direction == "reverse"]
    let results = try backwards.enumerated().map { index, isBackwards in
      try lstmDirection(node, index, isBackwards)
    }
    for (index, output) in node.outputs.enumerated() where isRead(output) {
      try join(results.map { $0[index] }, axis: index == 0 ? 1 : 0, for: output)
    }
  }

  /// The outputs of all steps, [steps, batch, hidden], and the last states, [batch, hidden].
  private mutating func lstmDirection(_ node: Node, _ index: Int, _ isBackwards: Bool) throws
    -> [String]
  {
    let input = try operand(node.inputs[0])
    let shape = try shape(node.inputs[0])
    let recurrent = try constantInput(2, of: node)
    let hidden = recurrent.shape[2]
    let state = TensorType(.float32, [shape[1], hidden])
    var arguments: [(name: String, value: CoreMLDraft.Argument)] = [("x", .value(input))]
    for (number, name) in [(5, "initial_h"), (6, "initial_c")] {
      arguments.append((name, .value(try initialState(node, number, index, state))))
    }
    for (number, name) in [(1, "weight_ih"), (2, "weight_hh")] {
      let rows = try constantInput(number, of: node).rows(index..<index + 1)
      let matrix = try rows.reshaped(to: [4 * hidden, rows.shape[2]]).gatesReordered(hidden)
      arguments.append((name, .value(try constant(matrix, named: node.inputs[number]))))
    }
    var bias = try Tensor(zeros: [4 * hidden])
    if self.input(3, of: node) != nil {
      let values = try constantInput(3, of: node).rows(index..<index + 1).values(as: Float.self)
      bias = try Tensor((0..<4 * hidden).map { values[$0] + values[$0 + 4 * hidden] })
    }
    let stored = try constant(bias.gatesReordered(hidden), named: node.outputs[0] + "/bias")
    if isProgram {
      return try RecurrentSteps(arguments, bias: stored, shape, hidden, isBackwards).run(&self)
    }
    arguments += [
      ("bias", .value(stored)), ("direction", .text(isBackwards ? "reverse" : "forward")),
      ("output_sequence", .bool(true)), ("recurrent_activation", .text("sigmoid")),
      ("cell_activation", .text("tanh")), ("activation", .text("tanh")),
    ]
    return emit(
      "lstm", arguments, as: [TensorType(.float32, [shape[0], shape[1], hidden]), state, state])
  }

  private mutating func initialState(
    _ node: Node, _ number: Int, _ index: Int, _ type: TensorType
  ) throws -> String {
    guard let name = input(number, of: node) else {
      return try constant(Tensor(zeros: type.shape), named: node.outputs[0] + "/state")
    }
    if let state = constant(name) {
      return try constant(
        state.rows(index..<index + 1).reshaped(to: type.shape), named: name)
    }
    let all = try shape(name)
    guard all[0] > 1 else { return reshaped(try operand(name), type.shape) }
    throw GraftError(.unsupported, "computed states of two directions")
  }

  /// Values with an axis for the directions.
  private mutating func join(_ parts: [String], axis: Int, for output: String) throws {
    let shape = try shape(output)
    var single = shape.dimensions
    single[axis] = 1
    let values = parts.map { reshaped($0, Shape(single)) }
    guard values.count > 1 else { return bind(output, to: values[0]) }
    try emit(
      "concat",
      [("values", .values(values)), ("axis", .int(axis)), ("interleave", .bool(false))],
      for: output)
  }
}

extension Tensor {
  /// Rows of gates in the order input, output, forget, candidate as input, forget, output, candidate.
  fileprivate func gatesReordered(_ hidden: Int) throws -> Tensor {
    let values = try values(as: Float.self)
    let size = values.count / 4
    func gate(_ index: Int) -> ArraySlice<Float> { values[index * size..<(index + 1) * size] }
    return try Tensor(Array(gate(0) + gate(2) + gate(1) + gate(3)), shape: shape)
  }
}
