import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Weights as a network's layers store them: float32, float16, or codes of a few bits.
struct CoreMLWeights {
  private let message: CoreMLMessage

  init(_ message: CoreMLMessage) { self.message = message }

  /// Whether there is anything.
  var isPresent: Bool { message.has(1) || message.has(2) || message.has(30) || message.has(31) }

  var isQuantized: Bool { message.has(30) || message.has(31) }

  func isUpdatable() throws -> Bool { try message.bool(50) }

  /// How many float32 or float16 numbers are stored.
  func storedCount() throws -> Int {
    if let bytes = message.packedBytes(1) { return bytes.count / 4 }
    if let bytes = try message.bytes(2) { return bytes.count / 2 }
    return try message.floats(1).count
  }

  /// The weights as float32.
  ///
  /// - Throws: `damaged` when their number is not the shape's.
  func tensor(_ shape: Shape, owner: AnyObject) throws -> Tensor {
    let count = try shape.checkedElementCount()
    if message.has(1) {
      if let bytes = message.packedBytes(1) {
        try Self.require(bytes.count % 4 == 0 ? bytes.count / 4 : -1, count, shape)
        return try Tensor(borrowing: bytes, .float32, shape: shape, owner: owner)
      }
      let values = try message.floats(1)
      try Self.require(values.count, count, shape)
      return try Tensor(values, shape: shape)
    }
    if let bytes = try message.bytes(2) {
      try Self.require(bytes.count % 2 == 0 ? bytes.count / 2 : -1, count, shape)
      return try Tensor(Self.halves(bytes), shape: shape)
    }
    if let bytes = try message.bytes(30) { return try quantized(bytes, shape, count) }
    if message.has(31) {
      throw GraftError(.unsupported, "weights of 8-bit integers with dynamic quantization")
    }
    try Self.require(0, count, shape)
    return try Tensor(zeros: shape)
  }

  static func halves(_ bytes: UnsafeRawBufferPointer) -> [Float] {
    (0..<bytes.count / 2).map { index in
      let bits = bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
      return Float(Float16(bitPattern: UInt16(littleEndian: bits)))
    }
  }

  private static func require(_ found: Int, _ count: Int, _ shape: Shape) throws {
    guard found == count else {
      throw GraftError(
        .damaged, "\(max(0, found)) weights are stored, and shape \(shape) has \(count)")
    }
  }

  /// Codes, packed with the highest bit first, through a scale and a bias or a table.
  private func quantized(_ bytes: UnsafeRawBufferPointer, _ shape: Shape, _ count: Int) throws
    -> Tensor
  {
    let quantization = try message.message(40)
    let bits = try quantization.int(1)
    guard (1...8).contains(bits) else {
      throw GraftError(.damaged, "weights are stored in \(bits) bits each")
    }
    let (bitCount, overflow) = count.multipliedReportingOverflow(by: bits)
    guard !overflow, bytes.count == (bitCount + 7) / 8 else {
      throw GraftError(
        .damaged,
        "\(bytes.count) bytes are stored for \(count) weights of \(bits) bits, shape \(shape)")
    }
    let decode =
      quantization.has(102)
      ? try table(quantization.message(102), bits)
      : try scale(quantization.message(101), shape, count)
    let result = try Tensor(uninitialized: shape, .float32)
    let values = try result.mutablePointer(as: Float.self)
    let mask = (1 << bits) - 1
    for index in 0..<count {
      let position = index * bits
      let byte = position / 8
      let next = byte + 1 < bytes.count ? Int(bytes[byte + 1]) : 0
      let window = Int(bytes[byte]) << 8 | next
      values[index] = decode(index, window >> (16 - position % 8 - bits) & mask)
    }
    return result
  }

  private func table(_ message: CoreMLMessage, _ bits: Int) throws -> (Int, Int) -> Float {
    let table = try message.floats(1)
    guard table.count == 1 << bits else {
      throw GraftError(.damaged, "a table of \(table.count) weights, and codes of \(bits) bits")
    }
    return { _, code in table[code] }
  }

  /// One scale for all, or one for each of the first axis.
  private func scale(_ message: CoreMLMessage, _ shape: Shape, _ count: Int) throws
    -> (Int, Int) -> Float
  {
    let scales = try message.floats(1)
    let biases = try message.floats(2)
    let rows = shape.first ?? 1
    guard scales.count == 1 || scales.count == rows, !scales.isEmpty,
      biases.isEmpty || biases.count == 1 || biases.count == rows
    else {
      throw GraftError(
        .damaged,
        "\(scales.count) scales and \(biases.count) biases for weights of shape \(shape)")
    }
    let rowSize = max(1, count / max(1, rows))
    return { index, code in
      let row = index / rowSize
      let bias = biases.isEmpty ? 0 : biases[biases.count == 1 ? 0 : row]
      return Float(code) * scales[scales.count == 1 ? 0 : row] + bias
    }
  }
}
