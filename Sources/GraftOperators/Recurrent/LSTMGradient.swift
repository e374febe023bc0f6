import GraftGraph
import GraftTensor

/// The gradients of LSTM for X, W, R, B, initial_h and initial_c, by backpropagation through time.
///
/// Inputs: the gradients of Y, Y_h and Y_c, each possibly left out, then LSTM's inputs; the forward
/// pass is run again. Outputs stand where LSTM's inputs do; those of the sequence lengths and
/// peepholes are never there. Attributes: those of LSTM.
struct LSTMGradient: FloatingOperator {
  let name = "LSTMGradient"
  let domain = graftDomain
  let inputCount = 6...11
  let outputCount = 1...8

  func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(3).elementType
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try context.input(3)
    return (3..<11).map { index in
      index < context.inputs.count ? context.inputs[index] ?? TensorType(x.elementType, [0]) : x
    }
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let cell = try LSTMCell(context, offset: 3)
    for index in 0..<8 where context.wantsOutput(index) {
      let output = try context.output(index)
      try context.output(index, as: type).update(repeating: 0, count: output.elementCount)
    }
    for direction in 0..<cell.directions {
      let trace = try LSTMTrace<T>(cell, direction, context, offset: 3)
      try run(cell, direction, trace, context)
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []

  private func run<T: FloatingElement>(
    _ cell: LSTMCell, _ direction: Int, _ trace: LSTMTrace<T>, _ context: KernelContext
  ) throws {
    let size = cell.size
    let width = 4 * size
    let block = cell.batch * size
    let r = try context.input(5, as: T.self) + direction * width * size
    let gradients = (0..<3).map { try? context.inputIfPresent($0, as: T.self) }
    // The gradients of gates before their activation, of all steps: [steps, batch, 4 * size].
    let gates = UnsafeMutablePointer<T>.allocate(capacity: max(1, cell.steps * cell.batch * width))
    let dh = UnsafeMutablePointer<T>.allocate(capacity: max(1, block))
    let dc = UnsafeMutablePointer<T>.allocate(capacity: max(1, block))
    defer {
      gates.deallocate()
      dh.deallocate()
      dc.deallocate()
    }
    for (state, gradient) in [(dh, gradients[1]), (dc, gradients[2])] {
      if let gradient {
        state.update(from: gradient + direction * block, count: block)
      } else {
        state.update(repeating: 0, count: block)
      }
    }
    let back = MatrixMultiplication<T>(rows: cell.batch, columns: size, inner: width)
    for time in (0..<cell.steps).reversed() {
      let step = trace.step(atTime: time)
      if let dy = gradients[0] {
        let part = dy + (step * cell.directions + direction) * block
        for i in 0..<block { dh[i] += part[i] }
      }
      let gate = gates + step * cell.batch * width
      differentiateStep(cell, trace, time, dh, dc, gate)
      back.run(gate, r, dh, threads: context.threads)
    }
    for (index, state) in [(5, dh), (6, dc)] where context.wantsOutput(index) {
      (try context.output(index, as: T.self) + direction * block).update(from: state, count: block)
    }
    try addWeightGradients(cell, direction, trace, gates, context)
  }

  /// From the gradients of a step's states to those of its gates; `dc` becomes that of the cell state
  /// before.
  private func differentiateStep<T: FloatingElement>(
    _ cell: LSTMCell, _ trace: LSTMTrace<T>, _ time: Int, _ dh: UnsafeMutablePointer<T>,
    _ dc: UnsafeMutablePointer<T>, _ gradient: UnsafeMutablePointer<T>
  ) {
    let size = cell.size
    let step = trace.step(atTime: time)
    let activated = trace.gates(at: step)
    let before = trace.cellState(beforeTime: time)
    let after = trace.cellState(beforeTime: time + 1)
    for row in 0..<cell.batch {
      let gates = activated + row * 4 * size
      let target = gradient + row * 4 * size
      for i in 0..<size {
        let position = row * size + i
        let (input, output) = (gates[i], gates[size + i])
        let (forget, candidate) = (gates[2 * size + i], gates[3 * size + i])
        let squashed = T.vectorTanh(after[position])
        let cellGradient = dc[position] + dh[position] * output * (1 - squashed * squashed)
        target[i] = cellGradient * candidate * input * (1 - input)
        target[size + i] = dh[position] * squashed * output * (1 - output)
        target[2 * size + i] = cellGradient * before[position] * forget * (1 - forget)
        target[3 * size + i] = cellGradient * input * (1 - candidate * candidate)
        dc[position] = cellGradient * forget
      }
    }
  }

  private func addWeightGradients<T: FloatingElement>(
    _ cell: LSTMCell, _ direction: Int, _ trace: LSTMTrace<T>, _ gates: UnsafeMutablePointer<T>,
    _ context: KernelContext
  ) throws {
    let size = cell.size
    let width = 4 * size
    let rows = cell.steps * cell.batch
    let x = try context.input(3, as: T.self)
    if context.wantsOutput(0) {
      let w = try context.input(4, as: T.self) + direction * width * cell.inputSize
      var product = MatrixMultiplication<T>(rows: rows, columns: cell.inputSize, inner: width)
      product.accumulates = true
      product.run(gates, w, try context.output(0, as: T.self), threads: context.threads)
    }
    if context.wantsOutput(1) {
      let dw = try context.output(1, as: T.self) + direction * width * cell.inputSize
      MatrixMultiplication<T>(rows: width, columns: cell.inputSize, inner: rows, transposedA: true)
        .run(gates, x, dw, threads: context.threads)
    }
    if context.wantsOutput(2) {
      let dr = try context.output(2, as: T.self) + direction * width * size
      var product = MatrixMultiplication<T>(
        rows: width, columns: size, inner: cell.batch, transposedA: true)
      product.accumulates = true
      for time in 0..<cell.steps {
        let step = trace.step(atTime: time)
        product.run(
          gates + step * cell.batch * width, trace.hidden(beforeTime: time), dr,
          threads: context.threads)
      }
    }
    if context.wantsOutput(3) {
      let db = try context.output(3, as: T.self) + direction * 2 * width
      for i in 0..<width {
        var sum: T = 0
        for row in 0..<rows { sum += gates[row * width + i] }
        db[i] = sum
        db[width + i] = sum
      }
    }
  }
}
