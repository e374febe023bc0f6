import GraftGraph
import GraftTensor

/// The tensors that an LSTM reads, as pointers; nil where one is left out.
struct LSTMInputs<T: FloatingElement> {
  let x: UnsafePointer<T>
  let w: UnsafePointer<T>
  let r: UnsafePointer<T>
  let b: UnsafePointer<T>?
  let initialHidden: UnsafePointer<T>?
  let initialCell: UnsafePointer<T>?
  /// Peephole weights [directions, 3 * hidden]: input, output, forget.
  let peepholes: UnsafePointer<T>?

  init(_ context: KernelContext) throws {
    x = try context.input(0, as: T.self)
    w = try context.input(1, as: T.self)
    r = try context.input(2, as: T.self)
    b = try context.inputIfPresent(3, as: T.self)
    initialHidden = try context.inputIfPresent(5, as: T.self)
    initialCell = try context.inputIfPresent(6, as: T.self)
    peepholes = try context.inputIfPresent(7, as: T.self)
  }
}

/// What an LSTM makes, as pointers; nil where it is not wanted.
struct LSTMOutputs<T: FloatingElement> {
  var y: UnsafeMutablePointer<T>?
  var hidden: UnsafeMutablePointer<T>?
  var cell: UnsafeMutablePointer<T>?
}

/// What the backward pass needs of the forward pass, each [directions, rows, ...].
struct LSTMTrace<T: FloatingElement> {
  /// The gates' arguments, clipped, [.., 4 * hidden]: input, output, forget, cell.
  let gates: RecurrentMemory<T>
  /// Cell states after and before each step, hidden states before it, [.., hidden].
  let cells: RecurrentMemory<T>
  let previousCells: RecurrentMemory<T>
  let previousHidden: RecurrentMemory<T>

  init(_ layer: RecurrentLayer) throws {
    let (directions, rows) = (layer.directions, layer.rowCount)
    gates = try RecurrentMemory(directions, rows, layer.gateSize)
    cells = try RecurrentMemory(directions, rows, layer.hiddenSize)
    previousCells = try RecurrentMemory(directions, rows, layer.hiddenSize)
    previousHidden = try RecurrentMemory(directions, rows, layer.hiddenSize)
  }
}

/// An LSTM's forward pass: the inputs' share of the gates as one matrix product, then step by step
/// the states' share as a product over the batch.
struct LSTMForward<T: FloatingElement> {
  let layer: RecurrentLayer
  /// For every direction: of the gates, of the cell's candidate, of the hidden state.
  let functions: [[RecurrentActivation]]
  let inputs: LSTMInputs<T>
  let outputs: LSTMOutputs<T>
  var trace: LSTMTrace<T>?

  func run(threads: Int) throws {
    let (rows, hidden, size) = (layer.rowCount, layer.hiddenSize, layer.gateSize)
    let projection = try RecurrentMemory<T>(layer.directions, rows, size)
    let packedSize = PackedPanels<T>.elementCount(inner: hidden, columns: size)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let recurrent = (0..<layer.directions).map { direction in
      RecurrentProjection.fill(
        projection.start + direction * rows * size, layer, inputs.x,
        inputs.w + direction * size * layer.inputSize,
        RecurrentProjection.bias(layer, inputs.b, direction: direction), threads: threads)
      return PackedPanels(
        StoredPanels(
          start: inputs.r + direction * size * hidden, stride: hidden, isTransposed: true),
        inner: hidden, columns: size, in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(
        direction, sequences, projection.start + direction * rows * size, recurrent[direction])
    }
    withExtendedLifetime((projection, packed)) {}
  }

  /// All steps of some sequences in one direction.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ projection: UnsafePointer<T>,
    _ recurrent: PackedPanels<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let count = sequences.count
    let longest = layer.lengths[sequences].max() ?? 0
    let product = MatrixMultiplication<T>(
      rows: count, columns: size, inner: hidden, accumulates: true)
    withThreadScratch(count * (size + 2 * hidden) + hidden, of: T.self) { h in
      let c = h + count * hidden
      let gates = c + count * hidden
      let scratch = gates + count * size
      for (index, sequence) in sequences.enumerated() {
        let start = layer.stateStart(sequence, direction)
        for i in 0..<hidden {
          h[index * hidden + i] = inputs.initialHidden?[start + i] ?? 0
          c[index * hidden + i] = inputs.initialCell?[start + i] ?? 0
        }
      }
      for step in 0..<longest {
        for (index, sequence) in sequences.enumerated() {
          let isActive = step < layer.lengths[sequence]
          let row = isActive ? layer.row(layer.time(step, sequence, direction), sequence) : 0
          copy(projection + row * size, gates + index * size, size)
        }
        product.runPart(h, recurrent, gates, rows: 0..<count, columns: 0..<size)
        for (index, sequence) in sequences.enumerated() where step < layer.lengths[sequence] {
          let time = layer.time(step, sequence, direction)
          self.step(
            direction, layer.row(time, sequence), h + index * hidden, c + index * hidden,
            gates + index * size, scratch)
          if let y = outputs.y {
            copy(h + index * hidden, y + layer.outputStart(time, sequence, direction), hidden)
          }
        }
      }
      for (index, sequence) in sequences.enumerated() {
        finish(sequence, direction, h + index * hidden, c + index * hidden)
      }
    }
  }

  /// One step of one sequence: replaces the states `h` and `c`.
  ///
  /// - Parameter gates: the gates' arguments without peepholes; overwritten.
  private func step(
    _ direction: Int, _ row: Int, _ h: UnsafeMutablePointer<T>, _ c: UnsafeMutablePointer<T>,
    _ gates: UnsafeMutablePointer<T>, _ scratch: UnsafeMutablePointer<T>
  ) {
    let hidden = layer.hiddenSize
    let (input, output) = (gates, gates + hidden)
    let (forget, candidate) = (gates + 2 * hidden, gates + 3 * hidden)
    let peepholes = inputs.peepholes.map { $0 + direction * 3 * hidden }
    let line = direction * layer.rowCount + row
    if let peepholes {
      for i in 0..<hidden { input[i] += peepholes[i] * c[i] }
      for i in 0..<hidden { forget[i] += peepholes[2 &* hidden &+ i] * c[i] }
    }
    layer.clip(input, hidden)
    layer.clip(forget, 2 * hidden)
    if let trace {
      copy(gates, trace.gates.start + line * layer.gateSize, layer.gateSize)
      copy(h, trace.previousHidden.start + line * hidden, hidden)
      copy(c, trace.previousCells.start + line * hidden, hidden)
    }
    functions[direction][0].apply(input, hidden)
    functions[direction][0].apply(forget, hidden)
    functions[direction][1].apply(candidate, hidden)
    for i in 0..<hidden { c[i] = forget[i] * c[i] + input[i] * candidate[i] }
    layer.clipCells(c, hidden)
    if let peepholes {
      for i in 0..<hidden { output[i] += peepholes[hidden &+ i] * c[i] }
    }
    layer.clip(output, hidden)
    if let trace {
      copy(output, trace.gates.start + line * layer.gateSize + hidden, hidden)
      copy(c, trace.cells.start + line * hidden, hidden)
    }
    functions[direction][0].apply(output, hidden)
    copy(c, scratch, hidden)
    functions[direction][2].apply(scratch, hidden)
    for i in 0..<hidden { h[i] = output[i] * scratch[i] }
  }

  /// Writes what comes after a sequence's last step; a sequence without steps ends in zeros.
  private func finish(
    _ sequence: Int, _ direction: Int, _ h: UnsafePointer<T>, _ c: UnsafePointer<T>
  ) {
    let hidden = layer.hiddenSize
    let length = layer.lengths[sequence]
    let start = layer.stateStart(sequence, direction)
    for (state, final) in [(h, outputs.hidden), (c, outputs.cell)] {
      guard let final else { continue }
      if length > 0 {
        copy(state, final + start, hidden)
      } else {
        (final + start).update(repeating: 0, count: hidden)
      }
    }
    guard let y = outputs.y else { return }
    for time in length..<layer.steps {
      (y + layer.outputStart(time, sequence, direction)).update(repeating: 0, count: hidden)
    }
  }
}

/// Copies elements that do not overlap.
@inline(__always)
func copy<T>(_ source: UnsafePointer<T>, _ target: UnsafeMutablePointer<T>, _ count: Int) {
  target.update(from: source, count: count)
}
