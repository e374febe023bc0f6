import GraftGraph
import GraftTensor

/// The gradients of RNN for all its inputs, by backpropagation through time; the forward pass is
/// computed again.
///
/// Inputs: those of RNN (0 to 5), then dY, dY_h, each left out where no gradient flows. Outputs: dX,
/// dW, dR, dB, dinitial_h. Attributes: those of RNN.
struct RNNGradient: RecurrentOperator {
  let name = "RNNGradient"
  let domain = graftDomain
  let inputCount = 6...8
  let outputCount = 0...5
  static let gates = RNN.gates
  static let activations = RNN.activations

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let layer = try Self.layer(context)
    try requireRecurrentGradients(context, layer, from: 6)
    return try recurrentGradientTypes(context, inputs: [0, 1, 2, 3, 5])
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let functions = try Self.functions(context.node, layer).map { $0[0] }
    let inputs = try RecurrentInputs<T>(context)
    let trace = try RNNTrace<T>(layer)
    try RNNForward(
      layer: layer, functions: functions, inputs: inputs, outputs: RecurrentOutputs(), trace: trace
    ).run(threads: context.threads)
    let gates = try RecurrentMemory<T>(layer.directions, layer.rowCount, layer.hiddenSize)
    try RNNBackward(
      layer: layer, functions: functions, inputs: inputs, trace: trace,
      y: try context.inputIfPresent(6, as: type), hidden: try context.inputIfPresent(7, as: type)
    ).run(
      gates, initialHidden: try context.outputIfWanted(4, as: type), threads: context.threads)
    try fill(context, layer, inputs, trace, UnsafePointer(gates.start))
    withExtendedLifetime((trace, gates)) {}
  }

  private func fill<T: FloatingElement>(
    _ context: KernelContext, _ layer: RecurrentLayer, _ inputs: RecurrentInputs<T>,
    _ trace: RNNTrace<T>, _ gates: UnsafePointer<T>
  ) throws {
    let gradients = RecurrentGradients<T>(layer: layer, threads: context.threads)
    let (rows, hidden) = (layer.rowCount, layer.hiddenSize)
    if let dx = try context.outputIfWanted(0, as: T.self) {
      gradients.fillInput(dx, gates, inputs.w)
    }
    if let dw = try context.outputIfWanted(1, as: T.self) {
      gradients.fillInputWeights(dw, gates, inputs.x)
    }
    for direction in 0..<layer.directions {
      let gates = gates + direction * rows * hidden
      if let dr = try context.outputIfWanted(2, as: T.self) {
        gradients.fillWeights(
          dr + direction * hidden * hidden, gates, stride: hidden, rows: hidden,
          trace.previousHidden.start + direction * rows * hidden, columns: hidden)
      }
      if let db = try context.outputIfWanted(3, as: T.self) {
        let target = db + direction * 2 * hidden
        gradients.fillSums(target, gates, stride: hidden, size: hidden)
        copy(target, target + hidden, hidden)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] { recurrentGradientSamples(gates: 1) }
}
