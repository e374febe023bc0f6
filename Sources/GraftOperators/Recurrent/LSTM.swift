import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Long short-term memory: i, o, f = f(Xt Wᵀ + Ht-1 Rᵀ + Wb + Rb + P * C), c = g(the same), Ct = f *
/// Ct-1 + i * c, Ht = o * h(Ct); the peepholes P see Ct-1 for i and f, Ct for o.
///
/// Shapes and shared attributes: those of `RecurrentLayer`, gates in the order i, o, f, c; further
/// inputs initial_c like initial_h and P [directions, 3 * hidden] in the order i, o, f; further output
/// Y_c. Attributes `activations` (Sigmoid, Tanh, Tanh: f, g, h for each direction),
/// `activation_alpha`, `activation_beta`; `input_forget` 0 only. `clip` bounds the arguments of f and
/// g. Steps beyond a sequence's length give zeros in Y; Y_h and Y_c are the states after its last
/// step, zeros when it has none. Gradient: `graft.LSTMGradient`. Source: ONNX LSTM-14.
struct LSTM: RecurrentOperator {
  let name = "LSTM"
  let inputCount = 3...8
  let outputCount = 0...3
  static let gates = 4
  static let activations = ["Sigmoid", "Tanh", "Tanh"]

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let layer = try Self.checkedLayer(context)
    let type = try context.input(0).elementType
    let state = TensorType(type, layer.stateShape)
    return [TensorType(type, layer.outputShape), state, state]
  }

  /// The layer, with everything checked.
  static func checkedLayer(_ context: TypeContext) throws -> RecurrentLayer {
    guard try context.node.int("input_forget", default: 0) == 0 else {
      throw GraftError(
        .unsupported, "attribute 'input_forget' is 1: coupled input and forget gates",
        fix: "Export the model with input_forget 0")
    }
    let layer = try layer(context)
    if context.has(6) {
      try RecurrentLayer.check(try context.shape(6), "initial_c", layer.stateShape)
    }
    if context.has(7) {
      try RecurrentLayer.check(
        try context.shape(7), "P", [layer.directions, 3 * layer.hiddenSize])
    }
    return layer
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let outputs = LSTMOutputs<T>(
      y: try context.outputIfWanted(0, as: type),
      hidden: try context.outputIfWanted(1, as: type),
      cell: try context.outputIfWanted(2, as: type))
    try LSTMForward<T>(
      layer: layer, functions: try Self.functions(context.node, layer),
      inputs: try LSTMInputs(context), outputs: outputs
    ).run(threads: context.threads)
  }

  let differentiation = Differentiation.rule { builder in
    recurrentGradientRule(&builder, "LSTMGradient", inputCount: 8, outputCount: 3)
  }

  var samples: [OperatorSample] { lstmSamples }
}

/// The gradient rule of all recurrent operators: the gradient node reads the operator's inputs, padded
/// to `inputCount`, then the outputs' gradients, and makes the gradients of all inputs but
/// sequence_lens in their order.
func recurrentGradientRule(
  _ builder: inout GradientBuilder, _ name: String, inputCount: Int, outputCount: Int
) -> [String?] {
  let inputs = (0..<inputCount).map { builder.input($0) }
  let gradients = (0..<outputCount).map { index in
    (index < builder.outputGradients.count ? builder.outputGradients[index] : nil) ?? ""
  }
  let differentiable = (0..<inputCount).filter { $0 != 4 }
  let results = builder.add(
    name, domain: graftDomain, inputs + gradients, builder.node.attributes,
    outputs: differentiable.map { builder.wants($0) })
  return builder.node.inputs.indices.map { index in
    guard builder.wants(index), let place = differentiable.firstIndex(of: index) else { return nil }
    return results[place]
  }
}
