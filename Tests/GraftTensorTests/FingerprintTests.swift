import GraftTensor
import Testing

struct FingerprintTests {
  private func text(_ bytes: [UInt8]) -> String {
    var fingerprint = Fingerprint()
    bytes.withUnsafeBytes { fingerprint.add($0) }
    return fingerprint.text
  }

  @Test func `equal bytes have equal fingerprints, wherever they lie`() {
    let bytes = (0..<100).map { UInt8($0) }
    #expect(text(bytes) == text(Array(([0] + bytes).dropFirst())))
    #expect(text(bytes).count == 32)
  }

  @Test func `a change of any bit or of the length changes the fingerprint`() {
    let bytes = (0..<70).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    var seen: Set = [text(bytes), text(bytes + [0]), text(Array(bytes.dropLast())), text([])]
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      seen.insert(text(changed))
    }
    #expect(seen.count == 4 + bytes.count * 8)
  }

  @Test func `where one part ends and the next begins counts`() {
    var first = Fingerprint()
    first.add("ab")
    first.add("c")
    var second = Fingerprint()
    second.add("a")
    second.add("bc")
    #expect(first.text != second.text)
  }

  @Test func `a tensor counts by type, shape and elements`() throws {
    let tensors = [
      try Tensor([1, 2] as [Float]), try Tensor([1, 2] as [Float], shape: [2, 1]),
      try Tensor([1, 3] as [Float]), try Tensor([1_065_353_216, 1_073_741_824] as [Int32]),
    ]
    let texts = tensors.map { tensor in
      var fingerprint = Fingerprint()
      fingerprint.add(tensor)
      return fingerprint.text
    }
    #expect(Set(texts).count == tensors.count)
  }
}
