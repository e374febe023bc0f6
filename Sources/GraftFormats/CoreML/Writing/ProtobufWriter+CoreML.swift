import GraftTensor

extension ProtobufWriter {
  /// A message that `fill` writes.
  init(_ fill: (inout ProtobufWriter) throws -> Void) rethrows {
    self.init()
    try fill(&self)
  }

  mutating func message(_ number: Int, _ fill: (inout ProtobufWriter) throws -> Void) rethrows {
    message(number, try ProtobufWriter(fill))
  }

  /// A message without fields, which says that a choice is made.
  mutating func empty(_ number: Int) { message(number, ProtobufWriter()) }

  mutating func double(_ number: Int, _ value: Double) {
    var key: [UInt8] = []
    var rest = UInt64(number) << 3 | 1
    while rest >= 0x80 {
      key.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    key.append(UInt8(truncatingIfNeeded: rest))
    encoded(key + withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) })
  }

  mutating func bool(_ number: Int, _ value: Bool) { if value { int(number, 1) } }

  /// An entry of a map with string keys.
  mutating func entry(_ number: Int, _ key: String, _ fill: (inout ProtobufWriter) throws -> Void)
    rethrows
  {
    try message(number) {
      $0.string(1, key)
      try $0.message(2, fill)
    }
  }

  /// A list of strings in a message of its own.
  mutating func strings(_ number: Int, _ values: [String]) {
    message(number) { for value in values { $0.string(1, value) } }
  }
}
