import GraftGraph
import GraftTensor

/// Gated recurrent unit: z, r = f(Xt Wᵀ + Ht-1 Rᵀ + Wb + Rb), h = g(Xt Whᵀ + (r * Ht-1) Rhᵀ + Rbh +
/// Wbh), Ht = (1 - z) * h + z * Ht-1; with `linear_before_reset` the middle of h is r * (Ht-1 Rhᵀ +
/// Rbh).
///
/// Shapes and shared attributes: those of `RecurrentLayer`, gates in the order z, r, h. Attributes
/// `linear_before_reset` (0), `activations` (Sigmoid, Tanh: f, g for each direction),
/// `activation_alpha`, `activation_beta`. `clip` bounds the arguments of f and g. Steps beyond a
/// sequence's length give zeros in Y; Y_h is the state after its last step, zeros when it has none.
/// Gradient: `graft.GRUGradient`. Source: ONNX GRU-14.
struct GRU: RecurrentOperator {
  let name = "GRU"
  let inputCount = 3...6
  let outputCount = 0...2
  static let gates = 3
  static let activations = ["Sigmoid", "Tanh"]

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try Self.isLinearBeforeReset(context.node)
    let layer = try Self.layer(context)
    let type = try context.input(0).elementType
    return [TensorType(type, layer.outputShape), TensorType(type, layer.stateShape)]
  }

  static func isLinearBeforeReset(_ node: Node) throws -> Bool {
    try node.int("linear_before_reset", default: 0) != 0
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let outputs = RecurrentOutputs<T>(
      y: try context.outputIfWanted(0, as: type), hidden: try context.outputIfWanted(1, as: type))
    try GRUForward<T>(
      layer: layer, functions: try Self.functions(context.node, layer),
      isLinearBeforeReset: try Self.isLinearBeforeReset(context.node),
      inputs: try RecurrentInputs(context), outputs: outputs
    ).run(threads: context.threads)
  }

  let differentiation = Differentiation.rule { builder in
    recurrentGradientRule(&builder, "GRUGradient", inputCount: 6, outputCount: 2)
  }

  var samples: [OperatorSample] {
    let linear: [String: Attribute] = ["linear_before_reset": .int(1)]
    return recurrentSamples(gates: 3, activations: ["HardSigmoid", "LeakyRelu"])
      + recurrentSamples(gates: 3, activations: ["Sigmoid", "ScaledTanh"], linear)
  }
}
