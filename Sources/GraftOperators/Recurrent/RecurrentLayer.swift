import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sizes and memory order of a recurrent operator, which LSTM, GRU and RNN share.
///
/// Inputs 0 to 5: X [steps, batch, inputs], W [directions, gates * hidden, inputs], R [directions,
/// gates * hidden, hidden], B [directions, 2 * gates * hidden], sequence_lens [batch], initial_h
/// [directions, batch, hidden]. Outputs: Y [steps, directions, batch, hidden], Y_h like initial_h.
/// With `layout` 1 the batch is the first axis of X, Y and the states. Attributes: `hidden_size` (that
/// of R), `direction` (forward), `layout` (0), `clip` (none). Source: ONNX LSTM-14, GRU-14, RNN-14. An
/// LSTM's `graft_cell_clip` bounds its cells' states, as Core ML does.
struct RecurrentLayer {
  let gates: Int
  let steps: Int
  let batch: Int
  let inputSize: Int
  let hiddenSize: Int
  /// One for each direction: whether it starts at a sequence's end.
  let isReverse: [Bool]
  /// Whether the batch is the first axis, as with `layout` 1.
  let isBatchFirst: Bool
  /// The steps of each sequence.
  let lengths: [Int]
  /// Bound of the activations' arguments.
  let clip: Float?
  /// Bound of the cells' states.
  let cellClip: Float?

  var directions: Int { isReverse.count }
  /// Gate values of one step of one sequence in one direction.
  var gateSize: Int { gates * hiddenSize }
  /// Steps of all sequences.
  var rowCount: Int { steps * batch }

  /// - Parameters:
  ///   - shapes: of the inputs from X on.
  ///   - lengths: the values of `sequence_lens`; all steps when nil.
  init(_ node: Node, gates: Int, shapes: [Shape?], lengths: [Int]?) throws {
    self.gates = gates
    isBatchFirst = try Self.isBatchFirst(node)
    isReverse = try Self.directions(node)
    clip = node.has("clip") ? try node.float("clip") : nil
    cellClip = node.has("graft_cell_clip") ? try node.float("graft_cell_clip") : nil
    guard let x = shapes.first ?? nil, shapes.count > 2, let w = shapes[1], let r = shapes[2] else {
      throw GraftError(.damaged, "input X, W or R is missing")
    }
    guard x.rank == 3, w.rank == 3, r.rank == 3 else {
      throw GraftError(
        .shapeMismatch, "X, W and R have shapes \(x), \(w) and \(r); each must have three axes")
    }
    (steps, batch) = isBatchFirst ? (x[1], x[0]) : (x[0], x[1])
    inputSize = x[2]
    hiddenSize = try node.int("hidden_size", default: r[2])
    let count = isReverse.count
    guard let gateSize = multiply(hiddenSize, gates), hiddenSize >= 0,
      let biasSize = multiply(gateSize, 2)
    else {
      throw GraftError(.damaged, "attribute 'hidden_size' is \(hiddenSize)")
    }
    self.lengths = lengths ?? [Int](repeating: steps, count: batch)
    try Self.check(w, "W", [count, gateSize, inputSize])
    try Self.check(r, "R", [count, gateSize, hiddenSize])
    if let b = Self.shape(shapes, 3) { try Self.check(b, "B", [count, biasSize]) }
    if let s = Self.shape(shapes, 4) { try Self.check(s, "sequence_lens", [batch]) }
    if let h = Self.shape(shapes, 5) { try Self.check(h, "initial_h", stateShape) }
    guard self.lengths.allSatisfy({ $0 >= 0 && $0 <= steps }) else {
      throw GraftError(
        .shapeMismatch, "sequence_lens is \(self.lengths); there are \(steps) steps")
    }
  }

  private static func isBatchFirst(_ node: Node) throws -> Bool {
    let layout = try node.int("layout", default: 0)
    guard layout == 0 || layout == 1 else {
      throw GraftError(.damaged, "attribute 'layout' is \(layout); it must be 0 or 1")
    }
    return layout == 1
  }

  private static func directions(_ node: Node) throws -> [Bool] {
    switch try node.string("direction", default: "forward") {
    case "forward": [false]
    case "reverse": [true]
    case "bidirectional": [false, true]
    case let other:
      throw GraftError(
        .damaged,
        "attribute 'direction' is '\(other)', not 'forward', 'reverse' or 'bidirectional'")
    }
  }

  /// The shape of an optional input; nil when it is left out.
  static func shape(_ shapes: [Shape?], _ index: Int) -> Shape? {
    index < shapes.count ? shapes[index] : nil
  }

  static func check(_ shape: Shape, _ name: String, _ wanted: Shape) throws {
    guard shape == wanted else {
      throw GraftError(
        .shapeMismatch, "input \(name) has shape \(shape); it must have shape \(wanted)")
    }
  }

  var outputShape: Shape {
    isBatchFirst
      ? [batch, steps, directions, hiddenSize] : [steps, directions, batch, hiddenSize]
  }

  var stateShape: Shape {
    isBatchFirst ? [batch, directions, hiddenSize] : [directions, batch, hiddenSize]
  }

  /// The time at which a direction makes its step number `step` of a sequence.
  func time(_ step: Int, _ sequence: Int, _ direction: Int) -> Int {
    isReverse[direction] ? lengths[sequence] - 1 - step : step
  }

  /// Where X has a step, in rows.
  func row(_ time: Int, _ sequence: Int) -> Int {
    isBatchFirst ? sequence * steps + time : time * batch + sequence
  }

  /// Where Y has a step, in elements.
  func outputStart(_ time: Int, _ sequence: Int, _ direction: Int) -> Int {
    let line =
      isBatchFirst
      ? (sequence * steps + time) * directions + direction
      : (time * directions + direction) * batch + sequence
    return line * hiddenSize
  }

  /// Where a state tensor has a sequence, in elements.
  func stateStart(_ sequence: Int, _ direction: Int) -> Int {
    (isBatchFirst ? sequence * directions + direction : direction * batch + sequence) * hiddenSize
  }

  /// Keeps numbers within the clip.
  func clip<T: FloatingElement>(_ x: UnsafeMutablePointer<T>, _ count: Int) {
    Self.clip(x, count, clip)
  }

  func clipCells<T: FloatingElement>(_ c: UnsafeMutablePointer<T>, _ count: Int) {
    Self.clip(c, count, cellClip)
  }

  private static func clip<T: FloatingElement>(
    _ x: UnsafeMutablePointer<T>, _ count: Int, _ limit: Float?
  ) {
    guard let limit else { return }
    let bound = T(limit)
    for i in 0..<count { x[i] = x[i] > bound ? bound : x[i] < -bound ? -bound : x[i] }
  }

  /// Sets gradients to zero where the clip held an argument.
  ///
  /// - Parameter x: the arguments after clipping.
  func clipGradient<T: FloatingElement>(
    _ gradient: UnsafeMutablePointer<T>, _ x: UnsafePointer<T>, _ count: Int
  ) {
    Self.clipGradient(gradient, x, count, clip)
  }

  /// The same for the states of cells.
  func clipCellGradient<T: FloatingElement>(
    _ gradient: UnsafeMutablePointer<T>, _ c: UnsafePointer<T>, _ count: Int
  ) {
    Self.clipGradient(gradient, c, count, cellClip)
  }

  private static func clipGradient<T: FloatingElement>(
    _ gradient: UnsafeMutablePointer<T>, _ x: UnsafePointer<T>, _ count: Int, _ limit: Float?
  ) {
    guard let limit else { return }
    let bound = T(limit)
    for i in 0..<count { gradient[i] = x[i].magnitude < bound ? gradient[i] : 0 }
  }

  /// Calls `body` for parts of the work that threads share: a direction and consecutive sequences.
  ///
  /// Sequences do not touch each other, so results are the same for any partition.
  func forEachPart(threads: Int, _ body: (_ direction: Int, _ sequences: Range<Int>) -> Void) {
    let work = Double(directions) * Double(rowCount) * Double(gateSize) * Double(hiddenSize + 16)
    let threads = work < 65_536 ? 1 : threads
    // Tiles of four rows are the matrix product's unit.
    let units = (batch + 3) / 4
    let parts = max(1, min(units, (threads + directions - 1) / directions))
    parallelLoop(directions * parts, threads: threads) { range in
      for index in range {
        let part = index % parts
        let start = min(batch, part * units / parts * 4)
        body(index / parts, start..<min(batch, (part + 1) * units / parts * 4))
      }
    }
  }
}
