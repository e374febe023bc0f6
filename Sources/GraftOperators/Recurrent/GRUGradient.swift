import GraftGraph
import GraftTensor

/// The gradients of GRU for all its inputs, by backpropagation through time; the forward pass is
/// computed again.
///
/// Inputs: those of GRU (0 to 5), then dY, dY_h, each left out where no gradient flows. Outputs: dX,
/// dW, dR, dB, dinitial_h. Attributes: those of GRU.
struct GRUGradient: RecurrentOperator {
  let name = "GRUGradient"
  let domain = graftDomain
  let inputCount = 6...8
  let outputCount = 0...5
  static let gates = GRU.gates
  static let activations = GRU.activations

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try GRU.isLinearBeforeReset(context.node)
    let layer = try Self.layer(context)
    try requireRecurrentGradients(context, layer, from: 6)
    return try recurrentGradientTypes(context, inputs: [0, 1, 2, 3, 5])
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let functions = try Self.functions(context.node, layer)
    let isLinear = try GRU.isLinearBeforeReset(context.node)
    let inputs = try RecurrentInputs<T>(context)
    let trace = try GRUTrace<T>(layer)
    try GRUForward(
      layer: layer, functions: functions, isLinearBeforeReset: isLinear, inputs: inputs,
      outputs: RecurrentOutputs(), trace: trace
    ).run(threads: context.threads)
    let gates = try RecurrentMemory<T>(layer.directions, layer.rowCount, layer.gateSize)
    let products = try RecurrentMemory<T>(layer.directions, layer.rowCount, layer.hiddenSize)
    try GRUBackward(
      layer: layer, functions: functions, isLinearBeforeReset: isLinear, inputs: inputs,
      trace: trace, y: try context.inputIfPresent(6, as: type),
      hidden: try context.inputIfPresent(7, as: type)
    ).run(
      gates, products, initialHidden: try context.outputIfWanted(4, as: type),
      threads: context.threads)
    try fill(
      context, layer, inputs, trace, UnsafePointer(gates.start), UnsafePointer(products.start))
    withExtendedLifetime((trace, gates, products)) {}
  }

  private func fill<T: FloatingElement>(
    _ context: KernelContext, _ layer: RecurrentLayer, _ inputs: RecurrentInputs<T>,
    _ trace: GRUTrace<T>, _ gates: UnsafePointer<T>, _ products: UnsafePointer<T>
  ) throws {
    let gradients = RecurrentGradients<T>(layer: layer, threads: context.threads)
    let isLinear = try GRU.isLinearBeforeReset(context.node)
    let (rows, hidden, size) = (layer.rowCount, layer.hiddenSize, layer.gateSize)
    if let dx = try context.outputIfWanted(0, as: T.self) {
      gradients.fillInput(dx, gates, inputs.w)
    }
    if let dw = try context.outputIfWanted(1, as: T.self) {
      gradients.fillInputWeights(dw, gates, inputs.x)
    }
    for direction in 0..<layer.directions {
      let gates = gates + direction * rows * size
      let products = products + direction * rows * hidden
      let previous = trace.previousHidden.start + direction * rows * hidden
      let resets = trace.resets.start + direction * rows * hidden
      if let dr = try context.outputIfWanted(2, as: T.self) {
        let target = dr + direction * size * hidden
        gradients.fillWeights(
          target, gates, stride: size, rows: 2 * hidden, previous, columns: hidden)
        gradients.fillWeights(
          target + 2 * hidden * hidden, products, stride: hidden, rows: hidden,
          isLinear ? previous : resets, columns: hidden)
      }
      if let db = try context.outputIfWanted(3, as: T.self) {
        let target = db + direction * 2 * size
        gradients.fillSums(target, gates, stride: size, size: size)
        copy(target, target + size, 2 * hidden)
        gradients.fillSums(target + size + 2 * hidden, products, stride: hidden, size: hidden)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    recurrentGradientSamples(gates: 3)
  }
}
