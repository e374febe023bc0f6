import GraftDiagnostics
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftFormats

struct FlatBufferTests {
  private func encode(_ build: (inout FlatBufferWriter) throws -> Void) throws -> [UInt8] {
    var writer = FlatBufferWriter()
    try build(&writer)
    var bytes: [UInt8] = []
    try writer.write(identifier: "TEST") { bytes += $0 }
    return bytes
  }

  /// Calls `body` with the outermost table.
  private func read(_ bytes: [UInt8], _ body: (FlatBufferTable) throws -> Void) throws {
    try bytes.withUnsafeBytes { try body(FlatBufferReader($0, identifier: "TEST").root) }
  }

  /// A table with fields of every kind.
  private func everything(_ writer: inout FlatBufferWriter) throws {
    var inner = FlatBufferWriter()
    inner.string(0, "inner")
    inner.integer(3, Int64.min)
    writer.integer(0, UInt8(200))
    writer.integer(1, Int64(-5))
    writer.integer(2, Int16(-300))
    writer.bool(3, true)
    writer.float(4, -0.5)
    writer.double(6, 1e300)
    writer.string(7, "naïve")
    writer.table(8, inner)
    writer.tables(9, [inner, FlatBufferWriter(), inner])
    writer.bytes(10, [1, 2, 3])
    writer.integers(11, [Int64(1), -1])
    writer.floats(12, [3, 4.5])
    writer.strings(13, ["", "b"])
    writer.elements(14, of: try Tensor([Float(1), 2, 3]))
    writer.integers(15, [Int16(7)])
  }

  /// Reads all fields, of whatever kind they may be.
  private func touch(_ table: FlatBufferTable, depth: Int = 0) {
    guard depth < 3 else { return }
    for field in 0..<17 {
      _ = try? table.has(field)
      _ = try? table.integer(field, Int64.self)
      _ = try? table.float(field)
      _ = try? table.string(field)
      _ = try? table.strings(field)
      _ = try? table.bytes(field)?.reduce(0, &+)
      _ = try? table.integers(field, Int64.self)
      if let inner = try? table.table(field) { touch(inner, depth: depth + 1) }
      for inner in (try? table.tables(field)) ?? [] { touch(inner, depth: depth + 1) }
    }
  }

  @Test func `fields of every kind are read back`() throws {
    try read(try encode(everything)) { root throws in
      #expect(try root.integer(0, UInt8.self) == 200)
      #expect(try root.integer(1, Int64.self) == -5)
      #expect(try root.integer(2, Int16.self) == -300)
      #expect(try root.bool(3))
      #expect(try root.float(4) == -0.5)
      #expect(try root.double(6) == 1e300)
      #expect(try root.string(7) == "naïve")
      #expect(try root.table(8)?.string(0) == "inner")
      #expect(try root.table(8)?.integer(3, Int64.self) == .min)
      #expect(try root.tables(9).map { try $0.string(0) } == ["inner", nil, "inner"])
      #expect(try root.bytes(10).map(Array.init) == [1, 2, 3])
      #expect(try root.integers(11, Int64.self) == [1, -1])
      #expect(try root.floats(12) == [3, 4.5])
      #expect(try root.strings(13) == ["", "b"])
      #expect(try root.bytes(14)?.count == 12)
      #expect(try root.integers(15, Int16.self) == [7])
    }
  }

  @Test func `fields that are left out have their defaults`() throws {
    try read(try encode { $0.integer(2, Int32(1)) }) { root throws in
      for field in [0, 1, 3, 1000, -1] {
        #expect(try root.has(field) == false)
        #expect(try root.integer(field, Int32.self, default: 9) == 9)
        #expect(try root.bool(field, default: true))
        #expect(try root.float(field, default: 2) == 2)
        #expect(try root.double(field) == 0)
        #expect(try root.string(field) == nil)
        #expect(try root.bytes(field) == nil)
        #expect(try root.integers(field, Int8.self) == nil)
        #expect(try root.tables(field).isEmpty)
      }
      #expect(try root.has(2))
    }
  }

  /// The example of the specification, made by hand: a table with the 16-bit field 1.
  @Test func `the bytes are those of the specification`() throws {
    let bytes: [UInt8] = [
      16, 0, 0, 0, 84, 69, 83, 84,  // offset of the table, "TEST"
      8, 0, 6, 0, 0, 0, 4, 0,  // vtable: its size, the table's, the offsets of the fields 0 and 1
      8, 0, 0, 0, 44, 1,  // the table: back to the vtable, the field
    ]
    #expect(try encode { $0.integer(1, UInt16(300)) } == bytes)
    try read(bytes) { root throws in #expect(try root.integer(1, UInt16.self) == 300) }
  }

  @Test func `everything lies at a multiple of its size`() throws {
    let bytes = try encode(everything)
    try bytes.withUnsafeBytes { bytes in
      let root = try FlatBufferReader(bytes, identifier: "TEST").root
      #expect(root.position % 4 == 0)
      let start = try #require(bytes.baseAddress)
      for (field, width) in [(11, 8), (12, 4), (14, 8), (15, 2)] {
        let list = try #require(try root.structures(field, width: 1)?.baseAddress)
        #expect((list - start) % width == 0, "field \(field)")
      }
    }
  }

  @Test func `the same tables store their field offsets once`() throws {
    func size(_ count: Int) throws -> Int {
      try encode { writer in
        writer.tables(
          0,
          (0..<count).map {
            var table = FlatBufferWriter()
            table.integer(5, Int32($0))
            return table
          })
      }.count
    }
    #expect(try size(11) - size(1) == 10 * (4 + 4 + 4))
  }

  @Test func `bytes that break the rules are errors with their place`() throws {
    let good = try encode { $0.integer(1, UInt16(300)) }
    func damaged(_ position: Int, _ value: UInt8, _ text: String) {
      var bytes = good
      bytes[position] = value
      expectError(.damaged, text) {
        try read(bytes) { _ = try $0.integer(1, UInt16.self) }
      }
    }
    damaged(0, 200, "byte 0: an offset of 200")
    damaged(0, 0, "byte 0: an offset of 0")
    damaged(4, 65, "'AEST', not 'TEST'")
    damaged(8, 3, "field offsets of 3 bytes")
    damaged(8, 40, "the file ends at byte 22")
    damaged(10, 100, "the file ends at byte 22")
    damaged(14, 5, "field 1 lies at 5 in a table of 6 bytes")
    damaged(14, 2, "field 1 lies at 2")
    damaged(18, 200, "bytes are wanted")
    for count in 0..<8 {
      expectError(.damaged, "at least 8 bytes") { try read(Array(good.prefix(count))) { _ in } }
    }
  }

  @Test func `tables may lie 64 deep`() throws {
    func nested(_ depth: Int) throws -> [UInt8] {
      var table = FlatBufferWriter()
      for _ in 0..<depth {
        var outer = FlatBufferWriter()
        outer.table(0, table)
        table = outer
      }
      return try encode { $0 = table }
    }
    func descend(_ table: FlatBufferTable) throws {
      if let inner = try table.table(0) { try descend(inner) }
    }
    try read(try nested(63), descend)
    expectError(.damaged, "64 deep") { try read(try nested(64), descend) }
  }

  @Test func `many offsets to one place do not make a small file large`() throws {
    // A list whose elements all lead to one string of 1000 letters.
    var bytes = try encode { writer in
      writer.strings(
        0, [String(repeating: "a", count: 1000)] + [String](repeating: "", count: 1000))
    }
    let list = try bytes.withUnsafeBytes { bytes in
      let root = try FlatBufferReader(bytes, identifier: "TEST").root
      let start = try #require(try root.structures(0, width: 4)?.baseAddress)
      return try start - #require(bytes.baseAddress)
    }
    let first = list + Int(bytes[list]) + Int(bytes[list + 1]) << 8
    for index in 1...1000 {
      let place = list + 4 * index
      bytes.replaceSubrange(
        place..<place + 4, with: FlatBufferWriter.littleEndian(UInt32(first - place)))
    }
    expectError(.damaged, "again and again") { try read(bytes) { _ = try $0.strings(0) } }
  }

  @Test func `a table cut off or changed anywhere never traps`() throws {
    let good = try encode(everything)
    func tryReading(_ bytes: [UInt8]) {
      do {
        try read(bytes) { touch($0) }
      } catch let error as GraftError {
        #expect(error.code == .damaged)
      } catch {
        Issue.record("an error of another kind: \(error)")
      }
    }
    for count in good.indices { tryReading(Array(good.prefix(count))) }
    for index in good.indices {
      for value in [good[index] ^ 1, good[index] ^ 0x80, 0, 0xFF] {
        var bytes = good
        bytes[index] = value
        tryReading(bytes)
      }
    }
  }
}
