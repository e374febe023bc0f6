import GraftGraph
import GraftTensor

/// The plain recurrent network: Ht = f(Xt Wᵀ + Ht-1 Rᵀ + Wb + Rb).
///
/// Shapes and shared attributes: those of `RecurrentLayer`, with one gate. Attributes `activations`
/// (Tanh for each direction), `activation_alpha`, `activation_beta`. `clip` bounds the argument of f.
/// Steps beyond a sequence's length give zeros in Y; Y_h is the state after its last step, zeros when
/// it has none. Gradient: `graft.RNNGradient`. Source: ONNX RNN-14.
struct RNN: RecurrentOperator {
  let name = "RNN"
  let inputCount = 3...6
  let outputCount = 0...2
  static let gates = 1
  static let activations = ["Tanh"]

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let layer = try Self.layer(context)
    let type = try context.input(0).elementType
    return [TensorType(type, layer.outputShape), TensorType(type, layer.stateShape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let outputs = RecurrentOutputs<T>(
      y: try context.outputIfWanted(0, as: type), hidden: try context.outputIfWanted(1, as: type))
    try RNNForward<T>(
      layer: layer, functions: try Self.functions(context.node, layer).map { $0[0] },
      inputs: try RecurrentInputs(context), outputs: outputs
    ).run(threads: context.threads)
  }

  let differentiation = Differentiation.rule { builder in
    recurrentGradientRule(&builder, "RNNGradient", inputCount: 6, outputCount: 2)
  }

  var samples: [OperatorSample] { recurrentSamples(gates: 1, activations: ["LeakyRelu"]) }
}
