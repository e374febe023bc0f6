/// The SHA-256 digest of bytes that come in pieces.
///
/// Source: FIPS 180-4, sections 5 and 6.2.
package struct SHA256 {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  /// Bytes that do not fill a block yet.
  private var rest: [UInt8] = []
  private var byteCount = 0
  private static let blockSize = 64

  package init() {}

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    byteCount &+= bytes.count
    var start = 0
    if !rest.isEmpty {
      start = min(Self.blockSize - rest.count, bytes.count)
      rest.append(contentsOf: bytes[..<start])
      guard rest.count == Self.blockSize else { return }
      rest.withUnsafeBytes { Self.take($0, &state) }
      rest.removeAll(keepingCapacity: true)
    }
    let whole = (bytes.count - start) / Self.blockSize * Self.blockSize
    Self.take(UnsafeRawBufferPointer(rebasing: bytes[start..<start + whole]), &state)
    rest.append(contentsOf: bytes[(start + whole)...])
  }

  package mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  /// The digest of everything added, as 64 hexadecimal digits.
  package var text: String {
    var state = state
    var tail = rest + [0x80]
    let missing = (2 * Self.blockSize - 8 - tail.count) % Self.blockSize
    tail += [UInt8](repeating: 0, count: missing)
    withUnsafeBytes(of: (UInt64(byteCount) &* 8).bigEndian) { tail += $0 }
    tail.withUnsafeBytes { Self.take($0, &state) }
    return state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  /// Takes in whole blocks.
  private static func take(_ bytes: UnsafeRawBufferPointer, _ state: inout [UInt32]) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { w in
      for start in stride(from: 0, to: bytes.count, by: blockSize) {
        for i in 0..<16 {
          w[i] = UInt32(
            bigEndian: bytes.loadUnaligned(fromByteOffset: start + 4 * i, as: UInt32.self))
        }
        for i in 16..<64 {
          let small0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3
          let small1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10
          w[i] = w[i - 16] &+ small0 &+ w[i - 7] &+ small1
        }
        mix(w, &state)
      }
    }
  }

  private static func mix(_ w: UnsafeMutableBufferPointer<UInt32>, _ state: inout [UInt32]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    constants.withUnsafeBufferPointer { k in
      for i in 0..<64 {
        let big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
        let first = h &+ big1 &+ ((e & f) ^ (~e & g)) &+ k[i] &+ w[i]
        let big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
        let second = big0 &+ ((a & b) ^ (a & c) ^ (b & c))
        (h, g, f, e) = (g, f, e, d &+ first)
        (d, c, b, a) = (c, b, a, first &+ second)
      }
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
    0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
    0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
    0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
    0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
