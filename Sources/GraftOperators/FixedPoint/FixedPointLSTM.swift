import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A long short-term memory layer of integers, without peepholes, projection or layer
/// normalization.
///
/// For every step, with gates of 16 bits (3 integer bits before, none behind the activation): i =
/// sigmoid(Wi x + Ri h + Bi), f and o alike, g = tanh(Wg x + Rg h + Bg), c = f * c + i * g, h = o *
/// tanh(c). Products of x less its zero point and of h less its zero point are sums of 32 bits;
/// every factor is a `FixedPointMultiplier`.
///
/// Inputs: X int8 [batch, time, I]; Wi, Wf, Wg, Wo int8 [cells, I]; Ri, Rf, Rg, Ro int8 [cells,
/// cells]; Bi, Bf, Bg, Bo int32 [cells]; h int8 [batch, cells]; c int16 [batch, cells]. Without Wi,
/// Ri and Bi the input gate is 1 - f. Outputs: Y int8 [batch, time, cells]; the last h; the last c.
/// Attributes: `x_scale`, `x_zero_point` (0), `w_scale` and `r_scale` (four each), `h_scale`,
/// `h_zero_point` (0), `y_scale`, `y_zero_point` (0) of new values of h before they are stored,
/// `c_exponent` (the power of two that c counts), `cell_clip` (0, none), `time_major` (0): 1 for X
/// and Y [time, batch, ...]. No gradient. Source: TensorFlow Lite's UNIDIRECTIONAL_SEQUENCE_LSTM,
/// integer kernel.
struct FixedPointLSTM: Operator {
  let name = "FixedPointLSTM"
  let domain = graftDomain
  let inputCount = 15...15
  let outputCount = 1...3
  let differentiation = fixedPointDifferentiation

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let sizes = try Sizes(context.node, try context.shape(0), cells: try context.shape(2))
    try context.require(0, [.int8])
    for index in 1...14 where index > 1 || context.has(1) {
      // Input, recurrent weights and bias of the input gate come together.
      guard context.has(index) || ([5, 9].contains(index) && !context.has(1)) else {
        throw GraftError(.damaged, "input \(index) is missing")
      }
      guard context.has(index) else { continue }
      try context.require(index, [index == 14 ? .int16 : index > 8 && index < 13 ? .int32 : .int8])
      let wanted = sizes.shape(ofInput: index)
      guard try context.shape(index) == wanted else {
        throw GraftError(
          .shapeMismatch,
          "input \(index) has shape \(try context.shape(index)); it must have shape \(wanted)")
      }
    }
    _ = try LSTMFactors(context.node)
    let state: Shape = [sizes.batch, sizes.cells]
    return [
      TensorType(.int8, sizes.outputShape), TensorType(.int8, state), TensorType(.int16, state),
    ]
  }

  func run(_ context: KernelContext) throws {
    let sizes = try context.kept {
      try Sizes(context.node, context.input(0).shape, cells: context.input(2).shape)
    }
    let factors = try context.kept { try LSTMFactors(context.node) }
    let states = sizes.batch * sizes.cells
    let y = context.wantsOutput(0) ? try context.output(0, as: Int8.self) : nil
    try context.withCentered(0, as: Int8.self, zeroPoint: factors.inputZeroPoint) { x in
      try context.withScratch(states, of: Int16.self) { hidden in
        try context.withScratch(states, of: Int16.self) { cell in
          try load(context, states, hidden, cell, factors)
          try withGates(context, sizes) { gates in
            let step = LSTMStep(
              cells: sizes.cells, inputs: sizes.inputs, factors: factors, gates: gates,
              couplesGates: !context.has(1))
            context.parallel(sizes.batch, cost: sizes.time * sizes.cells * 64) { range in
              for row in range {
                let hidden = hidden + row * sizes.cells
                let cell = cell + row * sizes.cells
                for time in 0..<sizes.time {
                  let place = sizes.place(row, time)
                  let target = y.map { $0 + place * sizes.cells }
                  step.run(x + place * sizes.inputs, hidden, cell, target)
                }
              }
            }
          }
          try store(context, states, hidden, cell, factors)
        }
      }
    }
  }

  private func load(
    _ context: KernelContext, _ count: Int, _ hidden: UnsafeMutablePointer<Int16>,
    _ cell: UnsafeMutablePointer<Int16>, _ factors: LSTMFactors
  ) throws {
    let h = try context.input(13, as: Int8.self)
    for i in 0..<count { hidden[i] = Int16(h[i]) &- Int16(factors.hiddenZeroPoint) }
    cell.update(from: try context.input(14, as: Int16.self), count: count)
  }

  private func store(
    _ context: KernelContext, _ count: Int, _ hidden: UnsafeMutablePointer<Int16>,
    _ cell: UnsafeMutablePointer<Int16>, _ factors: LSTMFactors
  ) throws {
    if context.wantsOutput(1) {
      let h = try context.output(1, as: Int8.self)
      for i in 0..<count {
        h[i] = Int8(truncatingIfNeeded: hidden[i] &+ Int16(factors.hiddenZeroPoint))
      }
    }
    if context.wantsOutput(2) {
      try context.output(2, as: Int16.self).update(from: cell, count: count)
    }
  }

  /// The weights of the gates as 16-bit numbers: input, forget, cell, output.
  private func withGates(
    _ context: KernelContext, _ sizes: Sizes, _ body: (LSTMStep.Gates) throws -> Void
  ) throws {
    let (inputs, cells) = (sizes.inputs, sizes.cells)
    try context.withScratch(4 * cells * inputs, of: Int16.self) { w in
      try context.withScratch(4 * cells * cells, of: Int16.self) { r in
        try context.withScratch(4 * cells, of: Int32.self) { b in
          for gate in 0..<4 where gate > 0 || context.has(1) {
            let weights = try context.input(1 + gate, as: Int8.self)
            for i in 0..<cells * inputs { w[gate * cells * inputs + i] = Int16(weights[i]) }
            let recurrent = try context.input(5 + gate, as: Int8.self)
            for i in 0..<cells * cells { r[gate * cells * cells + i] = Int16(recurrent[i]) }
            (b + gate * cells).update(
              from: try context.input(9 + gate, as: Int32.self), count: cells)
          }
          try body(LSTMStep.Gates(weights: w, recurrent: r, bias: b))
        }
      }
    }
  }

  private struct Sizes {
    let batch: Int
    let time: Int
    let inputs: Int
    let cells: Int
    let isTimeMajor: Bool

    init(_ node: Node, _ input: Shape, cells weights: Shape) throws {
      guard input.rank == 3, weights.rank == 2 else {
        throw GraftError(
          .shapeMismatch,
          "inputs 0 and 2 have shapes \(input) and \(weights); their ranks must be 3 and 2")
      }
      isTimeMajor = try node.int("time_major", default: 0) != 0
      batch = input[isTimeMajor ? 1 : 0]
      time = input[isTimeMajor ? 0 : 1]
      inputs = input[2]
      cells = weights[0]
    }

    func shape(ofInput index: Int) -> Shape {
      switch index {
      case 1...4: [cells, inputs]
      case 5...8: [cells, cells]
      case 9...12: [cells]
      default: [batch, cells]
      }
    }

    var outputShape: Shape { isTimeMajor ? [time, batch, cells] : [batch, time, cells] }

    /// Which vector of X and Y a step of a sequence is.
    func place(_ row: Int, _ step: Int) -> Int {
      isTimeMajor ? step * batch + row : row * time + step
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.recurrent }
}
