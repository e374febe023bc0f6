import GraftTensor
import Testing

struct SHA256Tests {
  private func digest(_ pieces: String...) -> String {
    var digest = SHA256()
    for piece in pieces { digest.add(piece) }
    return digest.text
  }

  /// From FIPS 180-4's examples; the empty one and the million from the NIST's test vectors.
  @Test func `digests are those of the standard`() {
    #expect(digest() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      digest(String(repeating: "a", count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `pieces of every length give the digest of the whole`() {
    let text = String(repeating: "0123456789", count: 20)
    let whole = digest(text)
    for length in 0...text.count {
      #expect(digest(String(text.prefix(length)), String(text.dropFirst(length))) == whole)
    }
  }
}
