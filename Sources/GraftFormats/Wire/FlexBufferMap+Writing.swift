import GraftDiagnostics

extension FlexBufferMap {
  /// A value of a map.
  enum Number {
    case integer(Int)
    case float(Float)
    case bool(Bool)
  }

  /// The bytes of a map.
  ///
  /// - Throws: `unsupported` for an integer that does not fit into 32 bits.
  static func bytes(_ entries: [(name: String, value: Number)]) throws -> [UInt8] {
    // Every width is four bytes.
    let width: UInt8 = 2
    // Names are found by bisection of their bytes.
    let entries = entries.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    var bytes: [UInt8] = []
    func append(_ value: UInt32) { bytes += withUnsafeBytes(of: value.littleEndian, Array.init) }
    let names = entries.map { entry in
      defer { bytes += Array(entry.name.utf8) + [0] }
      return bytes.count
    }
    while bytes.count % 4 != 0 { bytes.append(0) }
    append(UInt32(entries.count))
    let keys = bytes.count
    for name in names { append(UInt32(bytes.count - name)) }
    append(UInt32(bytes.count - keys))
    append(4)
    append(UInt32(entries.count))
    let values = bytes.count
    var kinds: [UInt8] = []
    for (name, value) in entries {
      switch value {
      case .integer(let number):
        guard let narrow = Int32(exactly: number) else {
          throw GraftError(.unsupported, "the option '\(name)' is \(number)")
        }
        append(UInt32(bitPattern: narrow))
        kinds.append(1 << 2 | width)
      case .float(let number):
        append(number.bitPattern)
        kinds.append(3 << 2 | width)
      case .bool(let flag):
        append(flag ? 1 : 0)
        kinds.append(26 << 2 | width)
      }
    }
    bytes += kinds
    while bytes.count % 4 != 0 { bytes.append(0) }
    append(UInt32(bytes.count - values))
    return bytes + [9 << 2 | width, 4]
  }
}
