import GraftDiagnostics
import GraftTensor

/// The file beside an ML program that holds its large constants.
///
/// A head of 64 bytes with the number of constants, then for each one 64 bytes that say what it is and
/// its numbers, every piece at a multiple of 64 bytes.
struct WeightFile {
  private static let alignment = 64
  private var tensors: [(tensor: Tensor, offset: Int)] = []
  private var end = alignment

  var isEmpty: Bool { tensors.isEmpty }

  /// Adds a constant and gives the place that the program names.
  mutating func add(_ tensor: Tensor) -> Int {
    let offset = end
    tensors.append((tensor, offset))
    end = Self.aligned(offset + Self.alignment + tensor.byteCount)
    return offset
  }

  func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    try Self.words([UInt64(tensors.count) | 2 << 32]).withUnsafeBytes(sink)
    for (tensor, offset) in tensors {
      let kinds: [ElementType: UInt64] = [.float16: 1, .float32: 2, .uint8: 3, .int8: 4]
      let kind = try kinds[tensor.elementType].orThrow {
        GraftError(.internalFault, "weights of type \(tensor.elementType)")
      }
      let head = [
        0xDEAD_BEEF | kind << 32, UInt64(tensor.byteCount), UInt64(offset + Self.alignment),
      ]
      try Self.words(head).withUnsafeBytes(sink)
      try tensor.withUnalignedBytes(sink)
      let padding = Self.aligned(tensor.byteCount) - tensor.byteCount
      try [UInt8](repeating: 0, count: padding).withUnsafeBytes(sink)
    }
  }

  private static func aligned(_ offset: Int) -> Int {
    (offset + alignment - 1) / alignment * alignment
  }

  /// Numbers and zeros behind them, 64 bytes in all.
  private static func words(_ values: [UInt64]) -> [UInt64] {
    (values + [UInt64](repeating: 0, count: 8 - values.count)).map(\.littleEndian)
  }
}
