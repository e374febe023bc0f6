import Foundation

/// Puts the bytes of a pickle together, operation by operation.
struct PickleProgram {
  var bytes: [UInt8] = []

  static func + (a: PickleProgram, b: PickleProgram) -> PickleProgram {
    PickleProgram(bytes: a.bytes + b.bytes)
  }

  /// Operations without arguments, by their letters.
  static func letters(_ text: String) -> PickleProgram { PickleProgram(bytes: Array(text.utf8)) }

  static func raw(_ bytes: UInt8...) -> PickleProgram { PickleProgram(bytes: bytes) }

  static func text(_ text: String) -> PickleProgram {
    let count = withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian, Array.init)
    return PickleProgram(bytes: [UInt8(ascii: "X")] + count + Array(text.utf8))
  }

  static func integer(_ value: Int) -> PickleProgram {
    let bytes = withUnsafeBytes(of: Int64(value).littleEndian, Array.init)
    return PickleProgram(bytes: [0x8a, 8] + bytes)
  }

  static func global(_ module: String, _ name: String) -> PickleProgram {
    letters("c\(module)\n\(name)\n")
  }

  static func tuple(_ parts: PickleProgram...) -> PickleProgram { tuple(parts) }

  static func tuple(_ parts: [PickleProgram]) -> PickleProgram {
    parts.reduce(letters("("), +) + letters("t")
  }

  static func integers(_ values: [Int]) -> PickleProgram { tuple(values.map(integer)) }

  /// A dictionary of one entry for each pair.
  static func dictionary(_ pairs: [(String, PickleProgram)]) -> PickleProgram {
    pairs.reduce(letters("}(")) { $0 + text($1.0) + $1.1 } + letters("u")
  }

  static func storage(_ type: String, _ key: String, count: Int) -> PickleProgram {
    let parts = type.split(separator: " ").map(String.init)
    return tuple(
      text("storage"), global(parts[0], parts[1]), text(key), text("cpu"), integer(count))
      + letters("Q")
  }

  /// A tensor over a storage.
  static func tensor(
    _ storage: PickleProgram, offset: Int = 0, shape: [Int], strides: [Int],
    more: [PickleProgram] = [letters("I00\n"), letters("N")], version: String = "_v2"
  ) -> PickleProgram {
    global("torch._utils", "_rebuild_tensor" + version)
      + tuple([storage, integer(offset), integers(shape), integers(strides)] + more)
      + letters("R")
  }

  /// The checkpoint whose program this is, in the ZIP format.
  func archive(_ storages: [String: [UInt8]] = [:], byteOrder: String? = nil) -> StoredZip {
    var zip = StoredZip()
    zip.entries.append(.init(name: "archive/data.pkl", data: [0x80, 2] + bytes + [0x2e]))
    if let byteOrder {
      zip.entries.append(.init(name: "archive/byteorder", data: Array(byteOrder.utf8)))
    }
    for (key, data) in storages.sorted(by: { $0.key < $1.key }) {
      zip.entries.append(.init(name: "archive/data/\(key)", data: data))
    }
    return zip
  }

  /// The checkpoint whose program this is, in the older format.
  func legacy(_ storages: [(key: String, count: Int, data: [UInt8])], isLittleEndian: Bool = true)
    -> Data
  {
    let magic: [UInt8] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]
    var data = Data([0x80, 2, 0x8a, 10] + magic + [0x2e])
    func add(_ program: PickleProgram) {
      data.append(contentsOf: [0x80, 2] + program.bytes + [0x2e])
    }
    add(.integer(1001))
    add(.dictionary([("little_endian", .raw(isLittleEndian ? 0x88 : 0x89))]))
    add(self)
    add(.tuple(storages.map { .text($0.key) }))
    for storage in storages {
      withUnsafeBytes(of: Int64(storage.count).littleEndian) { data.append(contentsOf: $0) }
      data.append(contentsOf: storage.data)
    }
    return data
  }
}
