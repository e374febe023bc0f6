import GraftTensor

/// A direction's recurrent weights, laid out once for the products of all steps: those of update and
/// reset together, those of the hidden gate apart, since they may see another state.
struct GRUWeights<T: FloatingElement> {
  private let hidden: Int
  private let updateAndReset: PackedPanels<T>
  private let hiddenGate: PackedPanels<T>

  /// - Parameters:
  ///   - r: [3 * hidden, hidden].
  ///   - isTransposed: whether states are multiplied with Rᵀ, as in the forward pass, rather than
  ///     gradients of gates with R.
  ///   - memory: room for both matrices' panels.
  init(
    _ r: UnsafePointer<T>, hidden: Int, isTransposed: Bool, in memory: UnsafeMutablePointer<T>
  ) {
    self.hidden = hidden
    let (inner, columns) = isTransposed ? (hidden, 2 * hidden) : (2 * hidden, hidden)
    updateAndReset = PackedPanels(
      StoredPanels(start: r, stride: hidden, isTransposed: isTransposed), inner: inner,
      columns: columns, in: memory)
    hiddenGate = PackedPanels(
      StoredPanels(start: r + 2 * hidden * hidden, stride: hidden, isTransposed: isTransposed),
      inner: hidden, columns: hidden,
      in: memory + PackedPanels<T>.elementCount(inner: inner, columns: columns))
  }

  /// gates[.., 0 ..< 2 * hidden] += states * Rᵀ, for `count` sequences.
  func addUpdateAndReset(
    _ states: UnsafePointer<T>, _ gates: UnsafeMutablePointer<T>, _ count: Int
  ) {
    MatrixMultiplication<T>(
      rows: count, columns: 2 * hidden, inner: hidden, strideC: 3 * hidden, accumulates: true
    ).runPart(states, updateAndReset, gates, rows: 0..<count, columns: 0..<2 * hidden)
  }

  /// target += states * (hidden gate's matrix), for `count` sequences.
  func addHidden(
    _ states: UnsafePointer<T>, _ target: UnsafeMutablePointer<T>, stride: Int, _ count: Int,
    statesStride: Int = 0
  ) {
    MatrixMultiplication<T>(
      rows: count, columns: hidden, inner: hidden, strideA: statesStride, strideC: stride,
      accumulates: true
    ).runPart(states, hiddenGate, target, rows: 0..<count, columns: 0..<hidden)
  }

  /// target += gradients of update and reset * R, for `count` sequences.
  func addUpdateAndResetGradient(
    _ gates: UnsafePointer<T>, _ target: UnsafeMutablePointer<T>, _ count: Int
  ) {
    MatrixMultiplication<T>(
      rows: count, columns: hidden, inner: 2 * hidden, strideA: 3 * hidden, accumulates: true
    ).runPart(gates, updateAndReset, target, rows: 0..<count, columns: 0..<hidden)
  }
}
