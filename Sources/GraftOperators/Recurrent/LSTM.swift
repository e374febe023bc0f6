import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A layer of long short-term memory, forward, reverse or both.
///
/// For each step, with gates in the order input, output, forget, cell:
/// i, o, f = sigmoid(x W + h R + b), g = tanh(x W + h R + b), c = f c + i g, h = o tanh(c).
/// Shapes: X [T, N, I], W [D, 4 H, I], R [D, 4 H, H], B [D, 8 H], initial_h and initial_c [D, N, H]
/// -> Y [T, D, N, H], Y_h and Y_c [D, N, H]. Attributes: `hidden_size`, `direction`. Sequence lengths,
/// peepholes, other activations, clipping and the batch-first layout are not supported. Gradient:
/// backpropagation through time. Source: ONNX LSTM-14.
struct LSTM: FloatingOperator {
  let name = "LSTM"
  let inputCount = 3...8
  let outputCount = 0...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let cell = try LSTMCell(context)
    let (steps, batch, size) = (cell.steps, cell.batch, cell.size)
    let type = try context.input(0).elementType
    let state = TensorType(type, [cell.directions, batch, size])
    return [TensorType(type, [steps, cell.directions, batch, size]), state, state]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let cell = try LSTMCell(context)
    for direction in 0..<cell.directions {
      let trace = try LSTMTrace<T>(cell, direction, context, offset: 0)
      let block = cell.batch * cell.size
      if context.wantsOutput(0) {
        let y = try context.output(0, as: type)
        for step in 0..<cell.steps {
          (y + (step * cell.directions + direction) * block).update(
            from: trace.hidden(after: step), count: block)
        }
      }
      let last = cell.isReversed(direction) ? 0 : cell.steps - 1
      if context.wantsOutput(1) {
        let state = try context.output(1, as: type) + direction * block
        state.update(from: trace.hidden(after: last), count: block)
      }
      if context.wantsOutput(2) {
        let state = try context.output(2, as: type) + direction * block
        state.update(from: trace.cellState(after: last), count: block)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    let outputs = (0..<3).map { index in
      index < builder.outputGradients.count ? builder.outputGradients[index] ?? "" : ""
    }
    let inputs = (0..<8).map { builder.input($0) }
    let wanted = (0..<8).map { builder.wants($0) && $0 != 4 && $0 != 7 }
    let gradients = builder.add(
      "LSTMGradient", domain: graftDomain, outputs + inputs, builder.node.attributes,
      outputs: wanted)
    return zip(wanted, gradients).map { $0 ? $1 : nil }
  }

  var samples: [OperatorSample] {
    func inputs(_ directions: Int) -> [Tensor?] {
      [
        .random([4, 2, 3]), .random([directions, 20, 3], scale: 0.5),
        .random([directions, 20, 5], seed: 1, scale: 0.5), .random([directions, 40], scale: 0.5),
      ]
    }
    let size: [String: Attribute] = ["hidden_size": .int(5)]
    return [
      OperatorSample("forward", attributes: size, inputs: inputs(1), outputCount: 3),
      OperatorSample(
        "reverse", attributes: size.merging(["direction": .string("reverse")]) { $1 },
        inputs: inputs(1), outputCount: 3),
      OperatorSample(
        "both directions", attributes: size.merging(["direction": .string("bidirectional")]) { $1 },
        inputs: inputs(2), outputCount: 3),
      OperatorSample(
        "initial state", attributes: size,
        inputs: inputs(1) + [nil, .random([1, 2, 5]), .random([1, 2, 5], seed: 2)], outputCount: 3),
      OperatorSample(
        "no bias", attributes: size, inputs: Array(inputs(1).prefix(3)), outputCount: 1),
      OperatorSample(
        "peepholes", attributes: size,
        inputs: inputs(1) + [nil, nil, nil, .random([1, 15])], error: "peepholes"),
      OperatorSample(
        "misfit", attributes: ["hidden_size": .int(4)], inputs: inputs(1),
        error: "has shape [1, 20, 3]"),
    ]
  }
}
