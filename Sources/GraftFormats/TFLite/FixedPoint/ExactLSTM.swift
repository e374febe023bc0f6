import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

extension FixedPointLowering {
  static let recurrent: [String: Rule] = ["UNIDIRECTIONAL_SEQUENCE_LSTM": sequenceLSTM]

  /// Inputs: 0 x, 1 to 4 weights of the input, forget, cell and output gate, 5 to 8 their recurrent
  /// weights, 9 to 11 peepholes, 12 to 15 biases, 16 and 17 the projection, 18 h, 19 c, 20 to 23
  /// coefficients of layer normalization. The fifth intermediate has the scale of new values of h.
  private static let sequenceLSTM: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    let hidden = try context.input(18, of: operation)
    let cell = try context.input(19, of: operation)
    guard
      ![9, 10, 11, 16, 17, 20, 21, 22, 23].contains(where: { context.hasInput($0, of: operation) }),
      operation.intermediates.count == 5, input.elementType == .int8, output.elementType == .int8,
      try FusedActivation(operation, field: 0) == .tanh
    else { throw GraftError(.unsupported, "exact arithmetic for this form of LSTM") }
    let inner = try context.exactQuantization(context.tensor(operation.intermediates[4]), [.int8])
    let isCoupled = !context.hasInput(1, of: operation)
    func scales(_ first: Int) throws -> Attribute {
      .floats(
        try (0..<4).map { gate in
          gate == 0 && isCoupled
            ? 1
            : try context.exactQuantization(context.input(first + gate, of: operation), [.int8])
              .scale
        })
    }
    let attributes: [String: Attribute] = [
      "w_scale": try scales(1), "r_scale": try scales(5), "y_scale": .float(inner.scale),
      "y_zero_point": .int(Int(inner.zeroPoint)),
      "c_exponent": .int(Int(try context.exactQuantization(cell).scale.exponent)),
      "cell_clip": .float(try operation.options?.float(1) ?? 0),
      "time_major": .int(try operation.options?.bool(3) ?? false ? 1 : 0),
    ].merging(try context.exactAttributes("x", input)) { $1 }
      .merging(try context.exactAttributes("h", hidden)) { $1 }
    let inputs = try ([0] + Array(1...8) + Array(12...15) + [18, 19]).map { index in
      context.hasInput(index, of: operation)
        ? try context.stored(context.input(index, of: operation)) : ""
    }
    context.addExact("FixedPointLSTM", inputs, attributes, as: output)
  }
}
