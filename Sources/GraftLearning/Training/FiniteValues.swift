import GraftTensor

extension Tensor {
  /// Whether no element of a floating-point tensor is infinite or NaN; true for other types.
  package var isFinite: Bool {
    switch elementType {
    case .float32: isFinite(exponent: 0x7F80_0000 as UInt32)
    case .float64: isFinite(exponent: 0x7FF0_0000_0000_0000 as UInt64)
    case .float16: isFinite(exponent: 0x7C00 as UInt16)
    case .bfloat16: isFinite(exponent: 0x7F80 as UInt16)
    default: true
    }
  }

  /// Whether no element has all bits of its exponent set, as infinity and NaN have.
  private func isFinite<Bits: FixedWidthInteger>(exponent: Bits) -> Bool {
    withUnsafeBytes { bytes in
      var found: Bits = 0
      // Without an early end the loop runs on whole vectors.
      for bits in bytes.bindMemory(to: Bits.self) {
        found |= bits & exponent == exponent ? 1 : 0
      }
      return found == 0
    }
  }
}
