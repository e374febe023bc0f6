import GraftDiagnostics
import GraftFormats
import GraftTensor
import GraftTestSupport
import Testing

struct ProtobufTests {
  private func encode(_ build: (inout ProtobufWriter) -> Void) throws -> [UInt8] {
    var writer = ProtobufWriter()
    build(&writer)
    var bytes: [UInt8] = []
    try writer.write { bytes += $0 }
    #expect(bytes.count == writer.byteCount)
    return bytes
  }

  /// Calls `body` with every field of a message.
  private func read(_ bytes: [UInt8], _ body: (ProtobufField) throws -> Void) throws {
    try bytes.withUnsafeBytes { bytes in
      var reader = ProtobufReader(bytes)
      while let field = try reader.next() { try body(field) }
    }
  }

  @Test(arguments: [0, 1, 127, 128, 300, .max, -1, .min])
  func `integers are written as the specification says`(value: Int) throws {
    let bytes = try encode { $0.int(1, value) }
    let lengths = [0: 2, 1: 2, 127: 2, 128: 3, 300: 3, Int.max: 10, -1: 11, Int.min: 11]
    #expect(bytes.count == lengths[value])
    try read(bytes) { field in
      #expect(field.number == 1)
      let read = try field.int()
      #expect(read == value)
    }
  }

  @Test func `fields of every kind are read back`() throws {
    var inner = ProtobufWriter()
    inner.string(3, "inner")
    let tensor = try Tensor([Float(1), 2])
    let bytes = try encode { writer in
      writer.float(1, -0.5)
      writer.string(2000, "text")
      writer.stringIfAny(3, "")
      writer.message(4, inner)
      writer.elements(5, of: tensor)
      writer.ints(6, [1, -1])
      writer.floats(7, [3])
    }
    var numbers: [Int] = []
    try read(bytes) { field in
      numbers.append(field.number)
      switch field.number {
      case 1: #expect(try field.float() == -0.5)
      case 2000: #expect(try field.string() == "text")
      case 4:
        var message = try field.message()
        #expect(try message.next()?.string() == "inner")
        #expect(try message.next() == nil)
      case 5, 7:
        var floats: [Float] = []
        try field.appendFloats(to: &floats)
        #expect(floats == (field.number == 5 ? [1, 2] : [3]))
      default:
        var ints: [Int] = []
        try field.appendInts(to: &ints)
        #expect(ints == [1, -1])
      }
    }
    #expect(numbers == [1, 2000, 4, 5, 6, 7])
  }

  @Test func `the example of the specification is read`() throws {
    try read([0x08, 0x96, 0x01]) { field in
      #expect(field.number == 1)
      let read = try field.int()
      #expect(read == 150)
    }
  }

  @Test(
    arguments: [
      ([0x08], "byte 1"), ([0x08, 0x80], "byte 2"), ([0x80], "byte 1"), ([0x0A, 2, 1], "byte 0"),
      ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], "announced"),
      ([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], "does not end"),
      ([0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], "does not end"),
      ([0x0D, 0, 0, 0], "inside a number"), ([0x09, 0, 0, 0, 0, 0, 0, 0], "inside a number"),
      ([0x00, 0], "field number"), ([0xF8, 0xFF, 0xFF, 0xFF, 0x7F, 0], "field number"),
      ([0x0B], "wire type"), ([0x0C], "wire type"), ([0x0E], "wire type"), ([0x0F], "wire type"),
    ] as [([UInt8], String)])
  func `bytes that break the rules are errors with their place`(bytes: [UInt8], text: String)
    throws
  {
    expectError(.damaged, text) { try read(bytes) { _ in } }
  }

  @Test func `a field of another kind than expected is an error`() throws {
    try read(try encode { $0.int(1, 4) }) { field in
      expectError(.damaged, "byte 1") { _ = try field.float() }
      expectError(.damaged, "bytes") { _ = try field.bytes() }
      expectError(.damaged, "bytes") { _ = try field.message() }
      expectError(.damaged, "numbers of 4 bytes") { try field.withFixed(width: 4) { _ in } }
    }
    try read(try encode { $0.array(1, [1, 2, 0x80]) }) { field in
      expectError(.damaged, "an integer") { _ = try field.int() }
      expectError(.damaged, "does not end") { try field.forEachVarint { _ in } }
      expectError(.damaged, "numbers of 4 bytes") { try field.withFixed(width: 4) { _ in } }
    }
  }

  @Test func `messages may lie a hundred deep`() throws {
    func nested(_ depth: Int) throws -> [UInt8] {
      var message = ProtobufWriter()
      for _ in 0..<depth {
        var outer = ProtobufWriter()
        outer.message(1, message)
        message = outer
      }
      return try encode { $0 = message }
    }
    func descend(_ field: ProtobufField) throws {
      var message = try field.message()
      while let field = try message.next() { try descend(field) }
    }
    try read(try nested(100), descend)
    expectError(.damaged, "100 deep") { try read(try nested(101), descend) }
  }
}
