import GraftTensor

extension [UInt8] {
  /// Calls `sink` with consecutive pieces: these bytes, and the elements of tensors between them, which
  /// are not copied.
  ///
  /// - Parameter tensors: each with the number of bytes that stand before it, in their order.
  func write(
    with tensors: [(position: Int, tensor: Tensor)],
    to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try withUnsafeBytes { bytes in
      var position = 0
      for (end, tensor) in tensors {
        try sink(UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
        try tensor.withUnalignedBytes(sink)
        position = end
      }
      try sink(UnsafeRawBufferPointer(rebasing: bytes[position...]))
    }
  }
}
