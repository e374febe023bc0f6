import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The factors of an integer LSTM, from the attributes of its node.
struct LSTMFactors {
  let inputZeroPoint: Int32
  let hiddenZeroPoint: Int32
  let outputZeroPoint: Int32
  /// For the gates: input, forget, cell, output.
  let input: [FixedPointMultiplier]
  let recurrent: [FixedPointMultiplier]
  let output: FixedPointMultiplier
  /// The power of two that the cells count.
  let cellExponent: Int
  let clip: Int16

  init(_ node: Node) throws {
    let x = try FixedPointQuantization(node, "x", .int8)
    let h = try FixedPointQuantization(node, "h", .int8)
    let y = try FixedPointQuantization(node, "y", .int8)
    (inputZeroPoint, hiddenZeroPoint, outputZeroPoint) = (x.zeroPoint, h.zeroPoint, y.zeroPoint)
    // Sums have 3 integer bits: they count 2^-12.
    func factors(_ name: String, _ scale: Float) throws -> [FixedPointMultiplier] {
      let scales = try node.scales(name, count: 4)
      return (0..<4).map {
        FixedPointMultiplier(Double(scales[scales.count == 1 ? 0 : $0] * scale * 4096))
      }
    }
    input = try factors("w", x.scale)
    recurrent = try factors("r", h.scale)
    output = FixedPointMultiplier(Double(0x1p-15 / y.scale * 0x1p-15))
    cellExponent = try node.int("c_exponent")
    guard -15 ... -9 ~= cellExponent else {
      throw GraftError(
        .unsupported, "attribute 'c_exponent' is \(cellExponent); it must be from -15 to -9")
    }
    let limit = try node.float("cell_clip", default: 0)
    guard limit >= 0 else {
      throw GraftError(.damaged, "attribute 'cell_clip' is \(limit); it must not be negative")
    }
    let scale = Float(sign: .plus, exponent: cellExponent, significand: 1)
    clip = Int16(min(limit / scale, 32767))
  }
}

/// One step of an integer LSTM for one sequence.
struct LSTMStep {
  /// Weights of four gates, one behind the other.
  struct Gates {
    let weights: UnsafeMutablePointer<Int16>
    let recurrent: UnsafeMutablePointer<Int16>
    let bias: UnsafeMutablePointer<Int32>
  }

  let cells: Int
  let inputs: Int
  let factors: LSTMFactors
  let gates: Gates
  /// Whether the input gate is 1 minus the forget gate.
  let couplesGates: Bool

  /// - Parameters:
  ///   - x: the input less its zero point.
  ///   - hidden: the output of the step before less its zero point; then this step's.
  func run(
    _ x: UnsafePointer<Int16>, _ hidden: UnsafeMutablePointer<Int16>,
    _ cell: UnsafeMutablePointer<Int16>, _ y: UnsafeMutablePointer<Int8>?
  ) {
    withThreadScratch(cells, of: Int16.self) { outputs in
      for i in 0..<cells {
        let forget = gate(1, i, x, hidden)
        let entry = couplesGates ? Int16.max &- forget : gate(0, i, x, hidden)
        let candidate = gate(2, i, x, hidden)
        cell[i] = updated(cell[i], forget, entry, candidate)
        let opening = gate(3, i, x, hidden)
        let size = FixedPointFunctions<Int16>.tanh(
          cell[i], integerBits: 15 + factors.cellExponent)
        let value = factors.output(Int32(opening) &* Int32(size)) &+ factors.outputZeroPoint
        outputs[i] = Int16(Int8(clamping: value))
      }
      for i in 0..<cells {
        y?[i] = Int8(truncatingIfNeeded: outputs[i])
        hidden[i] = outputs[i] &- Int16(truncatingIfNeeded: factors.hiddenZeroPoint)
      }
    }
  }

  private func gate(
    _ gate: Int, _ cell: Int, _ x: UnsafePointer<Int16>, _ hidden: UnsafePointer<Int16>
  ) -> Int16 {
    let row = gate * cells + cell
    let first = Int32.dot(x, gates.weights + row * inputs, inputs) &+ gates.bias[row]
    let second = Int32.dot(hidden, gates.recurrent + row * cells, cells)
    let sum = Int32(Int16(clamping: factors.input[gate](first)))
    let total = Int16(clamping: factors.recurrent[gate](second) &+ sum)
    return gate == 2
      ? FixedPointFunctions<Int16>.tanh(total, integerBits: 3)
      : FixedPointFunctions<Int16>.logistic(total, integerBits: 3)
  }

  private func updated(_ cell: Int16, _ forget: Int16, _ entry: Int16, _ candidate: Int16) -> Int16
  {
    let kept = roundingHalving(Int32(forget) &* Int32(cell), 15)
    let added = roundingHalving(
      Int32(entry) &* Int32(candidate), Int32(30 + factors.cellExponent))
    let sum = Int16(
      clamping: Int32(Int16(truncatingIfNeeded: kept)) &+ Int32(Int16(truncatingIfNeeded: added)))
    return factors.clip > 0 ? min(max(sum, -factors.clip), factors.clip) : sum
  }
}
