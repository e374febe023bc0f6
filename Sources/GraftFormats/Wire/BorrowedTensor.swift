import GraftDiagnostics
import GraftTensor

extension Tensor {
  /// A tensor over a file's bytes, which `owner` keeps mapped; nothing is copied.
  ///
  /// Only truth values other than 0 and 1, which no Swift `Bool` may hold, are copied and turned
  /// into 1.
  ///
  /// - Throws: `damaged` when `bytes` is not exactly as long as type and shape ask for.
  init(
    borrowing bytes: UnsafeRawBufferPointer, _ elementType: ElementType, shape: Shape,
    owner: AnyObject
  ) throws {
    let byteCount = try Tensor.byteCount(shape, elementType)
    guard bytes.count == byteCount else {
      throw GraftError(
        .damaged,
        "\(elementType) of shape \(shape) takes \(byteCount) bytes, and there are \(bytes.count)")
    }
    if elementType == .bool, bytes.contains(where: { $0 > 1 }) {
      try self.init(uninitialized: shape, .bool)
      mutableBytes.copyMemory(from: bytes.baseAddress ?? self.bytes, byteCount: bytes.count)
      normalizeTruthValues()
      return
    }
    guard
      let storage = TensorStorage(
        borrowing: bytes, alignment: elementType.alignment, owner: owner)
    else {
      try self.init(uninitialized: shape, elementType)
      return
    }
    self.init(elementType: elementType, shape: shape, storage: storage, byteOffset: 0)
  }

  /// Turns every truth value other than 0 into 1, for the one who made the tensor.
  func normalizeTruthValues() {
    for index in 0..<byteCount where mutableBytes.load(fromByteOffset: index, as: UInt8.self) > 1 {
      mutableBytes.storeBytes(of: 1, toByteOffset: index, as: UInt8.self)
    }
  }
}
