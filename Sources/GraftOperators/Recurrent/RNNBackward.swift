import GraftGraph
import GraftTensor

/// An RNN's backward pass through time, from a trace of the forward pass.
struct RNNBackward<T: FloatingElement> {
  let layer: RecurrentLayer
  let functions: [RecurrentActivation]
  let inputs: RecurrentInputs<T>
  let trace: RNNTrace<T>
  /// Gradients of Y and Y_h; nil where none flows.
  let y: UnsafePointer<T>?
  let hidden: UnsafePointer<T>?

  /// Fills the gradients of the activation's arguments, [directions, rows, hidden], and of the initial
  /// states.
  ///
  /// - Parameter gateGradients: zero at first; steps beyond a sequence's end stay zero.
  func run(
    _ gateGradients: RecurrentMemory<T>, initialHidden: UnsafeMutablePointer<T>?, threads: Int
  ) throws {
    let (rows, hidden) = (layer.rowCount, layer.hiddenSize)
    let packedSize = PackedPanels<T>.elementCount(inner: hidden, columns: hidden)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let recurrent = (0..<layer.directions).map { direction in
      PackedPanels(
        StoredPanels(start: inputs.r + direction * hidden * hidden, stride: hidden), inner: hidden,
        columns: hidden, in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(
        direction, sequences, recurrent[direction],
        gateGradients.start + direction * rows * hidden, initialHidden)
    }
    withExtendedLifetime(packed) {}
  }

  /// All steps of some sequences in one direction, from the last to the first.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ recurrent: PackedPanels<T>,
    _ gateGradients: UnsafeMutablePointer<T>, _ initialHidden: UnsafeMutablePointer<T>?
  ) {
    let hidden = layer.hiddenSize
    let count = sequences.count
    let product = MatrixMultiplication<T>(rows: count, columns: hidden, inner: hidden)
    withThreadScratch(2 * count * hidden + hidden, of: T.self) { dh in
      let gradients = dh + count * hidden
      let values = gradients + count * hidden
      dh.update(repeating: 0, count: count * hidden)
      for step in (0..<(layer.lengths[sequences].max() ?? 0)).reversed() {
        for (index, sequence) in sequences.enumerated() {
          let target = gradients + index * hidden
          guard step < layer.lengths[sequence] else {
            target.update(repeating: 0, count: hidden)
            continue
          }
          let state = dh + index * hidden
          layer.addOutputGradients(step, sequence, direction, y: y, hidden: self.hidden, to: state)
          let row = layer.row(layer.time(step, sequence, direction), sequence)
          let arguments = trace.arguments.start + (direction * layer.rowCount + row) * hidden
          copy(arguments, values, hidden)
          functions[direction].apply(values, hidden)
          copy(state, target, hidden)
          functions[direction].multiplyDerivative(target, arguments, values, hidden)
          layer.clipGradient(target, arguments, hidden)
          copy(target, gateGradients + row * hidden, hidden)
        }
        product.runPart(gradients, recurrent, dh, rows: 0..<count, columns: 0..<hidden)
      }
      guard let initialHidden else { return }
      for (index, sequence) in sequences.enumerated() {
        copy(dh + index * hidden, initialHidden + layer.stateStart(sequence, direction), hidden)
      }
    }
  }
}
