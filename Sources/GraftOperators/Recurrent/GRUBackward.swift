import GraftGraph
import GraftTensor

/// A GRU's backward pass through time, from a trace of the forward pass.
struct GRUBackward<T: FloatingElement> {
  let layer: RecurrentLayer
  let functions: [[RecurrentActivation]]
  let isLinearBeforeReset: Bool
  let inputs: RecurrentInputs<T>
  let trace: GRUTrace<T>
  /// Gradients of Y and Y_h; nil where none flows.
  let y: UnsafePointer<T>?
  let hidden: UnsafePointer<T>?

  /// Fills the gradients of the gates' arguments, [directions, rows, 3 * hidden], of what the hidden
  /// gate's recurrent weights give, [directions, rows, hidden], and of the initial states.
  ///
  /// - Parameter gateGradients: zero at first, as is `productGradients`; steps beyond a sequence's
  ///   end stay zero.
  func run(
    _ gateGradients: RecurrentMemory<T>, _ productGradients: RecurrentMemory<T>,
    initialHidden: UnsafeMutablePointer<T>?, threads: Int
  ) throws {
    let (rows, hidden, size) = (layer.rowCount, layer.hiddenSize, layer.gateSize)
    let packedSize =
      PackedPanels<T>.elementCount(inner: 2 * hidden, columns: hidden)
      + PackedPanels<T>.elementCount(inner: hidden, columns: hidden)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let weights = (0..<layer.directions).map { direction in
      GRUWeights(
        inputs.r + direction * size * hidden, hidden: hidden, isTransposed: false,
        in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(
        direction, sequences, weights[direction], gateGradients.start + direction * rows * size,
        productGradients.start + direction * rows * hidden, initialHidden)
    }
    withExtendedLifetime(packed) {}
  }

  /// All steps of some sequences in one direction, from the last to the first.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ weights: GRUWeights<T>,
    _ gateGradients: UnsafeMutablePointer<T>, _ productGradients: UnsafeMutablePointer<T>,
    _ initialHidden: UnsafeMutablePointer<T>?
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let count = sequences.count
    withThreadScratch(count * (2 * size + 3 * hidden), of: T.self) { dh in
      let products = dh + count * hidden
      let resets = products + count * hidden
      let gates = resets + count * hidden
      let values = gates + count * size
      dh.update(repeating: 0, count: count * hidden)
      for step in (0..<(layer.lengths[sequences].max() ?? 0)).reversed() {
        for (index, sequence) in sequences.enumerated() {
          guard step < layer.lengths[sequence] else {
            (gates + index * size).update(repeating: 0, count: size)
            (values + index * size).update(repeating: 0, count: size)
            (products + index * hidden).update(repeating: 0, count: hidden)
            continue
          }
          layer.addOutputGradients(
            step, sequence, direction, y: y, hidden: self.hidden, to: dh + index * hidden)
          differentiateHiddenGate(
            direction, line(step, sequence, direction), dh + index * hidden, gates + index * size,
            values + index * size, products + index * hidden)
        }
        resets.update(repeating: 0, count: count * hidden)
        weights.addHidden(products, resets, stride: hidden, count)
        for (index, sequence) in sequences.enumerated() where step < layer.lengths[sequence] {
          differentiateReset(
            direction, line(step, sequence, direction), dh + index * hidden, gates + index * size,
            values + index * size, resets + index * hidden)
          let row = line(step, sequence, direction) - direction * layer.rowCount
          copy(gates + index * size, gateGradients + row * size, size)
          copy(products + index * hidden, productGradients + row * hidden, hidden)
        }
        weights.addUpdateAndResetGradient(gates, dh, count)
      }
      guard let initialHidden else { return }
      for (index, sequence) in sequences.enumerated() {
        copy(
          dh + index * hidden, initialHidden + layer.stateStart(sequence, direction), hidden)
      }
    }
  }

  /// Where the trace has a step.
  private func line(_ step: Int, _ sequence: Int, _ direction: Int) -> Int {
    direction * layer.rowCount + layer.row(layer.time(step, sequence, direction), sequence)
  }

  /// From the gradient of a step's state to those of the update's and hidden gate's arguments and of
  /// what the hidden gate's recurrent weights give; `dh` becomes what flows past the gates.
  private func differentiateHiddenGate(
    _ direction: Int, _ line: Int, _ dh: UnsafeMutablePointer<T>,
    _ gradients: UnsafeMutablePointer<T>, _ values: UnsafeMutablePointer<T>,
    _ products: UnsafeMutablePointer<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let arguments = UnsafePointer(trace.gates.start + line * size)
    let previous = trace.previousHidden.start + line * hidden
    copy(arguments, values, size)
    functions[direction][0].apply(values, 2 * hidden)
    functions[direction][1].apply(values + 2 * hidden, hidden)
    let candidate = values + 2 * hidden
    let dCandidate = gradients + 2 * hidden
    for i in 0..<hidden {
      gradients[i] = dh[i] * (previous[i] - candidate[i])
      dCandidate[i] = dh[i] * (1 - values[i])
      dh[i] *= values[i]
    }
    functions[direction][0].multiplyDerivative(gradients, arguments, values, hidden)
    layer.clipGradient(gradients, arguments, hidden)
    functions[direction][1].multiplyDerivative(
      dCandidate, arguments + 2 * hidden, candidate, hidden)
    layer.clipGradient(dCandidate, arguments + 2 * hidden, hidden)
    let reset = values + hidden
    for i in 0..<hidden {
      products[i] = isLinearBeforeReset ? dCandidate[i] * reset[i] : dCandidate[i]
    }
  }

  /// The gradient of the reset's argument, and its share of the state's.
  ///
  /// - Parameter resets: the hidden gate's share of the gradient of what its recurrent weights
  ///   multiply: the state, or the state times the reset.
  private func differentiateReset(
    _ direction: Int, _ line: Int, _ dh: UnsafeMutablePointer<T>,
    _ gradients: UnsafeMutablePointer<T>, _ values: UnsafePointer<T>, _ resets: UnsafePointer<T>
  ) {
    let (hidden, size) = (layer.hiddenSize, layer.gateSize)
    let arguments = UnsafePointer(trace.gates.start + line * size + hidden)
    let previous = trace.previousHidden.start + line * hidden
    let results = trace.resets.start + line * hidden
    let reset = values + hidden
    let dReset = gradients + hidden
    let dCandidate = gradients + 2 * hidden
    if isLinearBeforeReset {
      for i in 0..<hidden {
        dReset[i] = dCandidate[i] * results[i]
        dh[i] += resets[i]
      }
    } else {
      for i in 0..<hidden {
        dReset[i] = resets[i] * previous[i]
        dh[i] += resets[i] * reset[i]
      }
    }
    functions[direction][0].multiplyDerivative(dReset, arguments, reset, hidden)
    layer.clipGradient(dReset, arguments, hidden)
  }
}
