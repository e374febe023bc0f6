import GraftGraph
import GraftTensor

/// One direction of an LSTM run forward, with everything that backpropagation needs.
///
/// Steps are counted as in the input, whatever the direction.
final class LSTMTrace<T: FloatingElement> {
  private let cell: LSTMCell
  private let isReversed: Bool
  /// Activated gates [steps, batch, 4 * size], in the order input, output, forget, cell.
  private let gates: UnsafeMutablePointer<T>
  /// Hidden and cell states, the initial one first, in the order of time: [steps + 1, batch, size].
  private let hiddens: UnsafeMutablePointer<T>
  private let cells: UnsafeMutablePointer<T>

  /// - Parameter offset: how many inputs stand before the layer's own.
  init(_ cell: LSTMCell, _ direction: Int, _ context: KernelContext, offset: Int) throws {
    self.cell = cell
    isReversed = cell.isReversed(direction)
    let block = cell.batch * cell.size
    gates = .allocate(capacity: max(1, cell.steps * block * 4))
    hiddens = .allocate(capacity: (cell.steps + 1) * block + 1)
    cells = .allocate(capacity: (cell.steps + 1) * block + 1)
    let width = 4 * cell.size
    let x = try context.input(offset, as: T.self)
    let w = try context.input(offset + 1, as: T.self) + direction * width * cell.inputSize
    let r = try context.input(offset + 2, as: T.self) + direction * width * cell.size
    let b = try context.inputIfPresent(offset + 3, as: T.self).map { $0 + direction * 2 * width }
    for (index, states) in [(5, hiddens), (6, cells)] {
      if let initial = try context.inputIfPresent(offset + index, as: T.self) {
        states.update(from: initial + direction * block, count: block)
      } else {
        states.update(repeating: 0, count: block)
      }
    }
    project(x, w, b, context)
    run(r, context)
  }

  deinit {
    gates.deallocate()
    hiddens.deallocate()
    cells.deallocate()
  }

  /// The place in time of a step of the input.
  private func time(_ step: Int) -> Int { isReversed ? cell.steps - 1 - step : step }

  func step(atTime time: Int) -> Int { isReversed ? cell.steps - 1 - time : time }

  func hidden(after step: Int) -> UnsafePointer<T> {
    UnsafePointer(hiddens + (time(step) + 1) * cell.batch * cell.size)
  }

  func cellState(after step: Int) -> UnsafePointer<T> {
    UnsafePointer(cells + (time(step) + 1) * cell.batch * cell.size)
  }

  /// The states before a time, counted from 0.
  func hidden(beforeTime time: Int) -> UnsafePointer<T> {
    UnsafePointer(hiddens + time * cell.batch * cell.size)
  }

  func cellState(beforeTime time: Int) -> UnsafePointer<T> {
    UnsafePointer(cells + time * cell.batch * cell.size)
  }

  /// The activated gates of a step of the input.
  func gates(at step: Int) -> UnsafePointer<T> {
    UnsafePointer(gates + step * cell.batch * 4 * cell.size)
  }

  /// x W + b of all steps in one product.
  private func project(
    _ x: UnsafePointer<T>, _ w: UnsafePointer<T>, _ b: UnsafePointer<T>?, _ context: KernelContext
  ) {
    let width = 4 * cell.size
    let rows = cell.steps * cell.batch
    var product = MatrixMultiplication<T>(
      rows: rows, columns: width, inner: cell.inputSize, transposedB: true)
    product.accumulates = true
    for row in 0..<rows {
      let line = gates + row * width
      if let b {
        for i in 0..<width { line[i] = b[i] + b[width + i] }
      } else {
        line.update(repeating: 0, count: width)
      }
    }
    product.run(x, w, gates, threads: context.threads)
  }

  private func run(_ r: UnsafePointer<T>, _ context: KernelContext) {
    let size = cell.size
    let width = 4 * size
    let block = cell.batch * size
    // Transposed once, so that no step has to.
    let recurrent = UnsafeMutablePointer<T>.allocate(capacity: width * size)
    defer { recurrent.deallocate() }
    for row in 0..<width {
      for column in 0..<size { recurrent[column * width + row] = r[row * size + column] }
    }
    var product = MatrixMultiplication<T>(rows: cell.batch, columns: width, inner: size)
    product.accumulates = true
    for time in 0..<cell.steps {
      let gates = gates + step(atTime: time) * cell.batch * width
      let before = cells + time * block
      let after = cells + (time + 1) * block
      let hidden = hiddens + (time + 1) * block
      product.run(hiddens + time * block, recurrent, gates, threads: context.threads)
      context.parallel(cell.batch, cost: size * 64) { range in
        for row in range {
          let line = gates + row * width
          for i in 0..<3 * size { line[i] = 1 / (1 + T.vectorExp(-line[i])) }
          for i in 3 * size..<width { line[i] = T.vectorTanh(line[i]) }
          let start = row * size
          for i in 0..<size {
            let c = line[2 * size + i] * before[start + i] + line[i] * line[3 * size + i]
            after[start + i] = c
            hidden[start + i] = line[size + i] * T.vectorTanh(c)
          }
        }
      }
    }
  }
}
