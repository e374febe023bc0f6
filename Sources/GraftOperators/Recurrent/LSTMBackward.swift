import GraftGraph
import GraftTensor

/// An LSTM's backward pass through time, from a trace of the forward pass.
struct LSTMBackward<T: FloatingElement> {
  let layer: RecurrentLayer
  let functions: [[RecurrentActivation]]
  let inputs: LSTMInputs<T>
  let trace: LSTMTrace<T>
  /// Gradients of Y, Y_h and Y_c; nil where none flows.
  let y: UnsafePointer<T>?
  let hidden: UnsafePointer<T>?
  let cell: UnsafePointer<T>?

  /// Fills the gradients of the gates' arguments, [directions, rows, 4 * hidden], and of the initial
  /// states.
  ///
  /// - Parameter gateGradients: zero at first; steps beyond a sequence's end stay zero.
  func run(
    _ gateGradients: RecurrentMemory<T>, initialHidden: UnsafeMutablePointer<T>?,
    initialCell: UnsafeMutablePointer<T>?, threads: Int
  ) throws {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let packedSize = PackedPanels<T>.elementCount(inner: size, columns: hidden)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let recurrent = (0..<layer.directions).map { direction in
      PackedPanels(
        StoredPanels(start: inputs.r + direction * size * hidden, stride: hidden), inner: size,
        columns: hidden, in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(
        direction, sequences, recurrent[direction],
        gateGradients.start + direction * layer.rowCount * size, initialHidden, initialCell)
    }
    withExtendedLifetime(packed) {}
  }

  /// All steps of some sequences in one direction, from the last to the first.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ recurrent: PackedPanels<T>,
    _ gateGradients: UnsafeMutablePointer<T>, _ initialHidden: UnsafeMutablePointer<T>?,
    _ initialCell: UnsafeMutablePointer<T>?
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let count = sequences.count
    let product = MatrixMultiplication<T>(rows: count, columns: hidden, inner: size)
    withThreadScratch(count * (size + 2 * hidden) + size + 2 * hidden, of: T.self) { dh in
      let dc = dh + count * hidden
      let gates = dc + count * hidden
      let scratch = gates + count * size
      dh.update(repeating: 0, count: 2 * count * hidden)
      for step in (0..<(layer.lengths[sequences].max() ?? 0)).reversed() {
        for (index, sequence) in sequences.enumerated() {
          let line = gates + index * size
          guard step < layer.lengths[sequence] else {
            line.update(repeating: 0, count: size)
            continue
          }
          addOutputGradients(
            step, sequence, direction, dh + index * hidden, dc + index * hidden)
          let row = layer.row(layer.time(step, sequence, direction), sequence)
          self.step(direction, row, dh + index * hidden, dc + index * hidden, line, scratch)
          copy(line, gateGradients + row * size, size)
        }
        product.runPart(gates, recurrent, dh, rows: 0..<count, columns: 0..<hidden)
      }
      for (index, sequence) in sequences.enumerated() {
        let start = layer.stateStart(sequence, direction)
        if let initialHidden { copy(dh + index * hidden, initialHidden + start, hidden) }
        if let initialCell { copy(dc + index * hidden, initialCell + start, hidden) }
      }
    }
  }

  /// Adds what flows into a step's states from outside.
  private func addOutputGradients(
    _ step: Int, _ sequence: Int, _ direction: Int, _ dh: UnsafeMutablePointer<T>,
    _ dc: UnsafeMutablePointer<T>
  ) {
    layer.addOutputGradients(step, sequence, direction, y: y, hidden: hidden, to: dh)
    layer.addOutputGradients(step, sequence, direction, y: nil, hidden: cell, to: dc)
  }

  /// One step of one sequence: from the gradients of its states to those of its gates' arguments, in
  /// `gradients`, and of the cell state before it, in `dc`.
  ///
  /// - Parameter scratch: room for the gates' values and two states.
  private func step(
    _ direction: Int, _ row: Int, _ dh: UnsafePointer<T>, _ dc: UnsafeMutablePointer<T>,
    _ gradients: UnsafeMutablePointer<T>, _ scratch: UnsafeMutablePointer<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let line = direction * layer.rowCount + row
    let arguments = UnsafePointer(trace.gates.start + line * size)
    let cells = UnsafePointer(trace.cells.start + line * hidden)
    let previous = UnsafePointer(trace.previousCells.start + line * hidden)
    let peepholes = inputs.peepholes.map { $0 + direction * 3 * hidden }
    let function = functions[direction]

    let values = scratch
    let cellValue = values + size
    let cellGradient = cellValue + hidden
    copy(arguments, values, size)
    function[0].apply(values, 3 * hidden)
    function[1].apply(values + 3 * hidden, hidden)
    copy(cells, cellValue, hidden)
    function[2].apply(cellValue, hidden)
    let (input, output) = (values, values + hidden)
    let (forget, candidate) = (values + 2 * hidden, values + 3 * hidden)
    let (dInput, dOutput) = (gradients, gradients + hidden)
    let (dForget, dCandidate) = (gradients + 2 * hidden, gradients + 3 * hidden)

    for i in 0..<hidden { dOutput[i] = dh[i] * cellValue[i] }
    function[0].multiplyDerivative(dOutput, arguments + hidden, output, hidden)
    layer.clipGradient(dOutput, arguments + hidden, hidden)
    for i in 0..<hidden { cellGradient[i] = dh[i] * output[i] }
    function[2].multiplyDerivative(cellGradient, cells, cellValue, hidden)
    for i in 0..<hidden { dc[i] += cellGradient[i] }
    if let peepholes {
      for i in 0..<hidden { dc[i] += dOutput[i] * peepholes[hidden &+ i] }
    }
    layer.clipCellGradient(dc, cells, hidden)
    for i in 0..<hidden {
      dInput[i] = dc[i] * candidate[i]
      dForget[i] = dc[i] * previous[i]
      dCandidate[i] = dc[i] * input[i]
    }
    function[0].multiplyDerivative(dInput, arguments, input, hidden)
    function[0].multiplyDerivative(dForget, arguments + 2 * hidden, forget, hidden)
    function[1].multiplyDerivative(dCandidate, arguments + 3 * hidden, candidate, hidden)
    layer.clipGradient(dInput, arguments, hidden)
    layer.clipGradient(dForget, arguments + 2 * hidden, 2 * hidden)
    for i in 0..<hidden { dc[i] *= forget[i] }
    if let peepholes {
      for i in 0..<hidden {
        dc[i] += dInput[i] * peepholes[i] + dForget[i] * peepholes[2 &* hidden &+ i]
      }
    }
  }
}
