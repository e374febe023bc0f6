import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradients of LSTM for all its inputs, by backpropagation through time; the forward pass is
/// computed again.
///
/// Inputs: those of LSTM (0 to 7), then dY, dY_h, dY_c, each left out where no gradient flows.
/// Outputs: dX, dW, dR, dB, dinitial_h, dinitial_c, dP. Attributes: those of LSTM.
struct LSTMGradient: RecurrentOperator {
  let name = "LSTMGradient"
  let domain = graftDomain
  let inputCount = 8...11
  let outputCount = 0...7
  static let gates = LSTM.gates
  static let activations = LSTM.activations

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let layer = try LSTM.checkedLayer(context)
    try requireRecurrentGradients(context, layer, from: 8)
    return try recurrentGradientTypes(context, inputs: [0, 1, 2, 3, 5, 6, 7])
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let layer = try Self.layer(context)
    let functions = try Self.functions(context.node, layer)
    let inputs = try LSTMInputs<T>(context)
    let trace = try LSTMTrace<T>(layer)
    try LSTMForward(
      layer: layer, functions: functions, inputs: inputs, outputs: LSTMOutputs(), trace: trace
    ).run(threads: context.threads)
    let gates = try RecurrentMemory<T>(layer.directions, layer.rowCount, layer.gateSize)
    try LSTMBackward(
      layer: layer, functions: functions, inputs: inputs, trace: trace,
      y: try context.inputIfPresent(8, as: type), hidden: try context.inputIfPresent(9, as: type),
      cell: try context.inputIfPresent(10, as: type)
    ).run(
      gates, initialHidden: try context.outputIfWanted(4, as: type),
      initialCell: try context.outputIfWanted(5, as: type), threads: context.threads)
    try fill(context, layer, inputs, trace, UnsafePointer(gates.start))
    withExtendedLifetime((trace, gates)) {}
  }

  private func fill<T: FloatingElement>(
    _ context: KernelContext, _ layer: RecurrentLayer, _ inputs: LSTMInputs<T>,
    _ trace: LSTMTrace<T>, _ gates: UnsafePointer<T>
  ) throws {
    let gradients = RecurrentGradients<T>(layer: layer, threads: context.threads)
    let (rows, hidden, size) = (layer.rowCount, layer.hiddenSize, layer.gateSize)
    if let dx = try context.outputIfWanted(0, as: T.self) {
      gradients.fillInput(dx, gates, inputs.w)
    }
    if let dw = try context.outputIfWanted(1, as: T.self) {
      gradients.fillInputWeights(dw, gates, inputs.x)
    }
    for direction in 0..<layer.directions {
      let gates = gates + direction * rows * size
      if let dr = try context.outputIfWanted(2, as: T.self) {
        gradients.fillWeights(
          dr + direction * size * hidden, gates, stride: size, rows: size,
          trace.previousHidden.start + direction * rows * hidden, columns: hidden)
      }
      if let db = try context.outputIfWanted(3, as: T.self) {
        let target = db + direction * 2 * size
        gradients.fillSums(target, gates, stride: size, size: size)
        copy(target, target + size, size)
      }
      if let dp = try context.outputIfWanted(6, as: T.self) {
        let target = dp + direction * 3 * hidden
        let previous = trace.previousCells.start + direction * rows * hidden
        let cells = trace.cells.start + direction * rows * hidden
        gradients.fillSums(target, gates, stride: size, times: previous)
        gradients.fillSums(target + hidden, gates + hidden, stride: size, times: cells)
        gradients.fillSums(
          target + 2 * hidden, gates + 2 * hidden, stride: size, times: previous)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    let inputs: [Tensor?] = [
      .random([3, 2, 4]), .random([1, 12, 4]), .random([1, 12, 3]), nil, nil, nil, nil, nil,
    ]
    return [
      OperatorSample(
        "from Y and Y_c", inputs: inputs + [.random([3, 1, 2, 3]), nil, .random([1, 2, 3])],
        outputCount: 3),
      OperatorSample(
        "misfit", inputs: inputs + [.random([3, 2, 3])], error: "the gradient has shape [3, 2, 3]"),
    ]
  }
}

/// Checks the gradients of a recurrent operator's outputs, which are the inputs from `first` on.
func requireRecurrentGradients(
  _ context: TypeContext, _ layer: RecurrentLayer, from first: Int
) throws {
  for index in first..<max(first, context.inputs.count) where context.has(index) {
    try context.requireSameType(0, index)
    let wanted = index == first ? layer.outputShape : layer.stateShape
    let shape = try context.shape(index)
    guard shape == wanted else {
      throw GraftError(
        .shapeMismatch, "the gradient has shape \(shape); that of the output is \(wanted)")
    }
  }
}

/// The types of the gradients of some inputs; those left out have none, and their gradients no
/// elements.
func recurrentGradientTypes(_ context: TypeContext, inputs: [Int]) throws -> [TensorType] {
  let empty = TensorType(try context.input(0).elementType, [0])
  return try inputs.map { context.has($0) ? try context.input($0) : empty }
}

extension KernelContext {
  /// The elements of an optional output and of an optional input's gradient; nil when it is not
  /// wanted.
  func outputIfWanted<T: TensorElement>(_ index: Int, as type: T.Type) throws
    -> UnsafeMutablePointer<T>?
  {
    wantsOutput(index) ? try output(index, as: type) : nil
  }
}
