/// A 128-bit number that tells contents apart: equal contents give equal numbers, and different ones
/// in practice different numbers. It is quick and no protection against forgery.
package struct Fingerprint: Sendable {
  /// Each takes every fourth word; what is done to them loses nothing.
  private var lanes: SIMD4<UInt64> = [
    0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93,
  ]

  package init() {}

  /// Takes in bytes, and how many there are.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    let whole = bytes.count / 32 * 32
    var lanes = lanes
    for offset in stride(from: 0, to: whole, by: 32) {
      lanes = Self.mixed(lanes, bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self))
    }
    var rest = SIMD4<UInt64>.zero
    for (index, byte) in bytes[whole...].enumerated() {
      rest[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
    }
    lanes = Self.mixed(lanes, rest)
    self.lanes = Self.mixed(lanes, SIMD4(repeating: UInt64(bytes.count)))
  }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  /// Takes in a tensor's type, shape and elements.
  package mutating func add(_ tensor: Tensor) {
    add("\(tensor.elementType) \(tensor.shape)")
    tensor.withUnalignedBytes { add($0) }
    tensor.storage.releaseFilePages()
  }

  private static func mixed(_ lanes: SIMD4<UInt64>, _ words: SIMD4<UInt64>) -> SIMD4<UInt64> {
    let sum = lanes ^ words
    // A product carries upwards only: the shift brings high bits down first.
    let product = (sum ^ sum &>> 32) &* 0x9FB2_1C65_1E98_DF25
    return product &<< 29 | product &>> 35
  }

  /// 32 hexadecimal digits.
  package var text: String {
    var lanes = lanes
    for _ in 0..<4 {
      // Every lane reaches every other one.
      lanes = Self.mixed(lanes, SIMD4(lanes[3], lanes[0], lanes[1], lanes[2]) &+ 1)
      lanes ^= lanes &>> 32
    }
    return [lanes[0] ^ lanes[2], lanes[1] ^ lanes[3]].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
