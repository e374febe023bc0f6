import GraftTensor

/// The gradients of a recurrent operator's inputs and weights from those of its gates: one matrix
/// product each over all steps of all sequences.
struct RecurrentGradients<T: FloatingElement> {
  let layer: RecurrentLayer
  let threads: Int

  /// dX = gate gradients * W, summed over the directions.
  ///
  /// - Parameter gates: [directions, rows, gates * hidden].
  func fillInput(
    _ dx: UnsafeMutablePointer<T>, _ gates: UnsafePointer<T>, _ w: UnsafePointer<T>
  ) {
    for direction in 0..<layer.directions {
      MatrixMultiplication<T>(
        rows: layer.rowCount, columns: layer.inputSize, inner: layer.gateSize,
        accumulates: direction > 0
      ).run(
        gates + direction * layer.rowCount * layer.gateSize,
        w + direction * layer.gateSize * layer.inputSize, dx, threads: threads)
    }
  }

  /// dW = gate gradientsᵀ * X for every direction.
  func fillInputWeights(
    _ dw: UnsafeMutablePointer<T>, _ gates: UnsafePointer<T>, _ x: UnsafePointer<T>
  ) {
    for direction in 0..<layer.directions {
      fillWeights(
        dw + direction * layer.gateSize * layer.inputSize,
        gates + direction * layer.rowCount * layer.gateSize, stride: layer.gateSize,
        rows: layer.gateSize, x, columns: layer.inputSize)
    }
  }

  /// One matrix of weights: the gradients' columnsᵀ * the states that they were multiplied with.
  ///
  /// - Parameters:
  ///   - gradients: [steps of all sequences, stride], of which the first `rows` columns count.
  ///   - states: [steps of all sequences, columns].
  func fillWeights(
    _ target: UnsafeMutablePointer<T>, _ gradients: UnsafePointer<T>, stride: Int, rows: Int,
    _ states: UnsafePointer<T>, columns: Int
  ) {
    MatrixMultiplication<T>(
      rows: rows, columns: columns, inner: layer.rowCount, transposedA: true, strideA: stride
    ).run(gradients, states, target, threads: threads)
  }

  /// The sum of `size` columns over all steps of all sequences.
  func fillSums(
    _ target: UnsafeMutablePointer<T>, _ gradients: UnsafePointer<T>, stride: Int, size: Int
  ) {
    target.update(repeating: 0, count: size)
    for row in 0..<layer.rowCount {
      let line = gradients + row * stride
      for i in 0..<size { target[i] += line[i] }
    }
  }

  /// The sum over all steps of the products of gradients and cell states, for peephole weights.
  func fillSums(
    _ target: UnsafeMutablePointer<T>, _ gradients: UnsafePointer<T>, stride: Int,
    times states: UnsafePointer<T>
  ) {
    let size = layer.hiddenSize
    target.update(repeating: 0, count: size)
    for row in 0..<layer.rowCount {
      let line = gradients + row * stride
      let state = states + row * size
      for i in 0..<size { target[i] += line[i] * state[i] }
    }
  }
}

extension RecurrentLayer {
  /// Adds what flows into a step's hidden state from outside.
  ///
  /// - Parameters:
  ///   - y: the gradient of Y, nil where none flows.
  ///   - hidden: that of Y_h.
  func addOutputGradients<T: FloatingElement>(
    _ step: Int, _ sequence: Int, _ direction: Int, y: UnsafePointer<T>?,
    hidden: UnsafePointer<T>?, to dh: UnsafeMutablePointer<T>
  ) {
    if let hidden, step == lengths[sequence] - 1 {
      let start = stateStart(sequence, direction)
      for i in 0..<hiddenSize { dh[i] += hidden[start &+ i] }
    }
    if let y {
      let start = outputStart(time(step, sequence, direction), sequence, direction)
      for i in 0..<hiddenSize { dh[i] += y[start &+ i] }
    }
  }
}
