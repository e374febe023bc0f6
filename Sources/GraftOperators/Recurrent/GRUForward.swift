import GraftGraph
import GraftTensor

/// What a GRU's backward pass needs of the forward pass, each [directions, rows, ...].
struct GRUTrace<T: FloatingElement> {
  /// The gates' arguments, clipped, [.., 3 * hidden]: update, reset, hidden.
  let gates: RecurrentMemory<T>
  /// Hidden states before each step.
  let previousHidden: RecurrentMemory<T>
  /// What the hidden gate's recurrent weights multiply (reset * state), or with
  /// `linear_before_reset` what comes out of them, bias included.
  let resets: RecurrentMemory<T>

  init(_ layer: RecurrentLayer) throws {
    let (directions, rows) = (layer.directions, layer.rowCount)
    gates = try RecurrentMemory(directions, rows, layer.gateSize)
    previousHidden = try RecurrentMemory(directions, rows, layer.hiddenSize)
    resets = try RecurrentMemory(directions, rows, layer.hiddenSize)
  }
}

/// A GRU's forward pass: the inputs' share of the gates as one matrix product, then step by step the
/// states' share as products over the batch.
struct GRUForward<T: FloatingElement> {
  let layer: RecurrentLayer
  /// For every direction: of update and reset, of the hidden gate.
  let functions: [[RecurrentActivation]]
  let isLinearBeforeReset: Bool
  let inputs: RecurrentInputs<T>
  let outputs: RecurrentOutputs<T>
  var trace: GRUTrace<T>?

  func run(threads: Int) throws {
    let (rows, hidden, size) = (layer.rowCount, layer.hiddenSize, layer.gateSize)
    let projection = try RecurrentMemory<T>(layer.directions, rows, size)
    let packedSize =
      PackedPanels<T>.elementCount(inner: hidden, columns: 2 * hidden)
      + PackedPanels<T>.elementCount(inner: hidden, columns: hidden)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let weights = (0..<layer.directions).map { direction in
      RecurrentProjection.fill(
        projection.start + direction * rows * size, layer, inputs.x,
        inputs.w + direction * size * layer.inputSize,
        RecurrentProjection.bias(
          layer, inputs.b, direction: direction,
          recurrentCount: isLinearBeforeReset ? 2 * hidden : nil), threads: threads)
      return GRUWeights(
        inputs.r + direction * size * hidden, hidden: hidden, isTransposed: true,
        in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(direction, sequences, projection.start + direction * rows * size, weights[direction])
    }
    withExtendedLifetime((projection, packed)) {}
  }

  /// All steps of some sequences in one direction.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ projection: UnsafePointer<T>,
    _ weights: GRUWeights<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let count = sequences.count
    let longest = layer.lengths[sequences].max() ?? 0
    withThreadScratch(count * (size + 3 * hidden), of: T.self) { h in
      let resets = h + count * hidden
      let products = resets + count * hidden
      let gates = products + count * hidden
      for (index, sequence) in sequences.enumerated() {
        let start = layer.stateStart(sequence, direction)
        for i in 0..<hidden { h[index * hidden + i] = inputs.initialHidden?[start + i] ?? 0 }
      }
      for step in 0..<longest {
        for (index, sequence) in sequences.enumerated() {
          let isActive = step < layer.lengths[sequence]
          let row = isActive ? layer.row(layer.time(step, sequence, direction), sequence) : 0
          copy(projection + row * size, gates + index * size, size)
        }
        weights.addUpdateAndReset(h, gates, count)
        for index in 0..<count {
          let line = gates + index * size
          layer.clip(line, 2 * hidden)
          // The trace wants arguments, so that values are made in place only after it has them.
          keep(line, 2 * hidden, at: 0, direction, sequences.lowerBound + index, step)
          functions[direction][0].apply(line, 2 * hidden)
        }
        addHiddenGate(direction, count, h, gates, resets, products, weights)
        for (index, sequence) in sequences.enumerated() where step < layer.lengths[sequence] {
          let state = h + index * hidden
          let line = gates + index * size
          let candidate = line + 2 * hidden
          layer.clip(candidate, hidden)
          keep(candidate, hidden, at: 2 * hidden, direction, sequence, step)
          keepStates(
            state, isLinearBeforeReset ? products + index * hidden : resets + index * hidden,
            direction, sequence, step)
          functions[direction][1].apply(candidate, hidden)
          for i in 0..<hidden {
            state[i] = (1 - line[i]) * candidate[i] + line[i] * state[i]
          }
          outputs.write(state, layer, layer.time(step, sequence, direction), sequence, direction)
        }
      }
      for (index, sequence) in sequences.enumerated() {
        outputs.finish(h + index * hidden, layer, sequence, direction)
      }
    }
  }

  /// Adds the states' share to the hidden gates' arguments.
  ///
  /// - Parameters:
  ///   - gates: update and reset are values, hidden the inputs' share.
  ///   - resets: becomes reset * state; used without `linear_before_reset`.
  ///   - products: becomes state * R + bias; used with it.
  private func addHiddenGate(
    _ direction: Int, _ count: Int, _ h: UnsafePointer<T>, _ gates: UnsafeMutablePointer<T>,
    _ resets: UnsafeMutablePointer<T>, _ products: UnsafeMutablePointer<T>,
    _ weights: GRUWeights<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    guard isLinearBeforeReset else {
      for index in 0..<count {
        let reset = gates + (index * size + hidden)
        for i in 0..<hidden {
          resets[index &* hidden &+ i] = reset[i] * h[index &* hidden &+ i]
        }
      }
      weights.addHidden(resets, gates + 2 * hidden, stride: size, count)
      return
    }
    let bias = inputs.b.map { $0 + (direction * 2 * size + size + 2 * hidden) }
    for index in 0..<count {
      for i in 0..<hidden { products[index * hidden + i] = bias?[i] ?? 0 }
    }
    weights.addHidden(h, products, stride: hidden, count)
    for index in 0..<count {
      let reset = gates + (index * size + hidden)
      let candidate = reset + hidden
      for i in 0..<hidden { candidate[i] += reset[i] * products[index &* hidden &+ i] }
    }
  }

  private func keep(
    _ arguments: UnsafePointer<T>, _ count: Int, at offset: Int, _ direction: Int, _ sequence: Int,
    _ step: Int
  ) {
    guard let trace, step < layer.lengths[sequence] else { return }
    let row = layer.row(layer.time(step, sequence, direction), sequence)
    let line = direction * layer.rowCount + row
    copy(arguments, trace.gates.start + line * layer.gateSize + offset, count)
  }

  private func keepStates(
    _ state: UnsafePointer<T>, _ reset: UnsafePointer<T>, _ direction: Int, _ sequence: Int,
    _ step: Int
  ) {
    guard let trace else { return }
    let hidden = layer.hiddenSize
    let row = layer.row(layer.time(step, sequence, direction), sequence)
    let line = direction * layer.rowCount + row
    copy(state, trace.previousHidden.start + line * hidden, hidden)
    copy(reset, trace.resets.start + line * hidden, hidden)
  }
}
