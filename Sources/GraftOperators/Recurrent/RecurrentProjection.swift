import GraftTensor

/// What the gates get from the inputs and biases, for all steps of all sequences at once.
enum RecurrentProjection {
  /// One direction's X Wᵀ + bias, [rows, gates * hidden], rows in the order of X.
  ///
  /// - Parameters:
  ///   - w: the direction's [gates * hidden, inputs].
  ///   - bias: the direction's [gates * hidden].
  static func fill<T: FloatingElement>(
    _ target: UnsafeMutablePointer<T>, _ layer: RecurrentLayer, _ x: UnsafePointer<T>,
    _ w: UnsafePointer<T>, _ bias: [T], threads: Int
  ) {
    let size = layer.gateSize
    for row in 0..<layer.rowCount {
      let line = target + row * size
      for i in 0..<size { line[i] = bias[i] }
    }
    MatrixMultiplication<T>(
      rows: layer.rowCount, columns: size, inner: layer.inputSize, transposedB: true,
      accumulates: true
    ).run(x, w, target, threads: threads)
  }

  /// The sum of one direction's input and recurrent biases, zeros without them.
  ///
  /// - Parameter recurrentCount: how many of the recurrent biases, from the first on, belong to the sum.
  static func bias<T: FloatingElement>(
    _ layer: RecurrentLayer, _ b: UnsafePointer<T>?, direction: Int, recurrentCount: Int? = nil
  ) -> [T] {
    let size = layer.gateSize
    guard let b else { return [T](repeating: 0, count: size) }
    let start = b + direction * 2 * size
    return (0..<size).map { i in
      i < recurrentCount ?? size ? start[i] + start[size + i] : start[i]
    }
  }
}
