import GraftGraph
import GraftTensor

/// What an RNN's backward pass needs of the forward pass, each [directions, rows, hidden].
struct RNNTrace<T: FloatingElement> {
  /// The activation's arguments, clipped.
  let arguments: RecurrentMemory<T>
  /// Hidden states before each step.
  let previousHidden: RecurrentMemory<T>

  init(_ layer: RecurrentLayer) throws {
    arguments = try RecurrentMemory(layer.directions, layer.rowCount, layer.hiddenSize)
    previousHidden = try RecurrentMemory(layer.directions, layer.rowCount, layer.hiddenSize)
  }
}

/// An RNN's forward pass: the inputs' share as one matrix product, then step by step the states' share
/// as a product over the batch.
struct RNNForward<T: FloatingElement> {
  let layer: RecurrentLayer
  /// One for every direction.
  let functions: [RecurrentActivation]
  let inputs: RecurrentInputs<T>
  let outputs: RecurrentOutputs<T>
  var trace: RNNTrace<T>?

  func run(threads: Int) throws {
    let (rows, hidden) = (layer.rowCount, layer.hiddenSize)
    let projection = try RecurrentMemory<T>(layer.directions, rows, hidden)
    let packedSize = PackedPanels<T>.elementCount(inner: hidden, columns: hidden)
    let packed = try RecurrentMemory<T>(layer.directions, packedSize)
    let recurrent = (0..<layer.directions).map { direction in
      RecurrentProjection.fill(
        projection.start + direction * rows * hidden, layer, inputs.x,
        inputs.w + direction * hidden * layer.inputSize,
        RecurrentProjection.bias(layer, inputs.b, direction: direction), threads: threads)
      return PackedPanels(
        StoredPanels(
          start: inputs.r + direction * hidden * hidden, stride: hidden, isTransposed: true),
        inner: hidden, columns: hidden, in: packed.start + direction * packedSize)
    }
    layer.forEachPart(threads: threads) { direction, sequences in
      run(
        direction, sequences, projection.start + direction * rows * hidden, recurrent[direction])
    }
    withExtendedLifetime((projection, packed)) {}
  }

  /// All steps of some sequences in one direction.
  private func run(
    _ direction: Int, _ sequences: Range<Int>, _ projection: UnsafePointer<T>,
    _ recurrent: PackedPanels<T>
  ) {
    let hidden = layer.hiddenSize
    let count = sequences.count
    let product = MatrixMultiplication<T>(
      rows: count, columns: hidden, inner: hidden, accumulates: true)
    withThreadScratch(2 * count * hidden, of: T.self) { h in
      let arguments = h + count * hidden
      for (index, sequence) in sequences.enumerated() {
        let start = layer.stateStart(sequence, direction)
        for i in 0..<hidden { h[index * hidden + i] = inputs.initialHidden?[start + i] ?? 0 }
      }
      for step in 0..<(layer.lengths[sequences].max() ?? 0) {
        for (index, sequence) in sequences.enumerated() {
          let isActive = step < layer.lengths[sequence]
          let row = isActive ? layer.row(layer.time(step, sequence, direction), sequence) : 0
          copy(projection + row * hidden, arguments + index * hidden, hidden)
        }
        product.runPart(h, recurrent, arguments, rows: 0..<count, columns: 0..<hidden)
        for (index, sequence) in sequences.enumerated() where step < layer.lengths[sequence] {
          let time = layer.time(step, sequence, direction)
          let state = h + index * hidden
          let line = arguments + index * hidden
          layer.clip(line, hidden)
          if let trace {
            let start = (direction * layer.rowCount + layer.row(time, sequence)) * hidden
            copy(line, trace.arguments.start + start, hidden)
            copy(state, trace.previousHidden.start + start, hidden)
          }
          functions[direction].apply(line, hidden)
          copy(line, state, hidden)
          outputs.write(state, layer, time, sequence, direction)
        }
      }
      for (index, sequence) in sequences.enumerated() {
        outputs.finish(h + index * hidden, layer, sequence, direction)
      }
    }
  }
}
