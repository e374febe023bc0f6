import GraftDiagnostics

/// The fields of one protobuf message by number, for messages of which rules read a few fields.
///
/// A field that is absent has the format's default: zero, false, or empty.
struct CoreMLMessage {
  private var fields: [Int: [ProtobufField]] = [:]

  /// A message without fields.
  init() {}

  init(_ reader: ProtobufReader) throws {
    var reader = reader
    while let field = try reader.next() { fields[field.number, default: []].append(field) }
  }

  /// The numbers of the fields that are there, in ascending order.
  var numbers: [Int] { fields.keys.sorted() }

  func has(_ number: Int) -> Bool { fields[number] != nil }

  func int(_ number: Int) throws -> Int { try last(number)?.int() ?? 0 }

  func bool(_ number: Int) throws -> Bool { try int(number) != 0 }

  func float(_ number: Int) throws -> Float { try last(number)?.float() ?? 0 }

  /// The number, or another one where it is zero, which often stands for a default.
  func float(_ number: Int, zeroMeans standard: Float) throws -> Float {
    let value = try float(number)
    return value == 0 ? standard : value
  }

  func double(_ number: Int) throws -> Double { try doubles(number).last ?? 0 }

  func string(_ number: Int) throws -> String { try last(number)?.string() ?? "" }

  func strings(_ number: Int) throws -> [String] { try all(number).map { try $0.string() } }

  func bytes(_ number: Int) throws -> UnsafeRawBufferPointer? { try last(number)?.bytes() }

  func ints(_ number: Int) throws -> [Int] {
    var list: [Int] = []
    for field in all(number) { try field.appendInts(to: &list) }
    return list
  }

  func bools(_ number: Int) throws -> [Bool] { try ints(number).map { $0 != 0 } }

  func floats(_ number: Int) throws -> [Float] {
    var list: [Float] = []
    for field in all(number) { try field.appendFloats(to: &list) }
    return list
  }

  func doubles(_ number: Int) throws -> [Double] {
    var list: [Double] = []
    for field in all(number) {
      try field.withFixed(width: 8) { bytes in
        for offset in stride(from: 0, to: bytes.count, by: 8) {
          let bits = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          list.append(Double(bitPattern: UInt64(littleEndian: bits)))
        }
      }
    }
    return list
  }

  /// The bytes of a packed list that lies in one piece; nil otherwise.
  func packedBytes(_ number: Int) -> UnsafeRawBufferPointer? {
    all(number).count == 1 ? all(number)[0].packedBytes : nil
  }

  /// A message inside; one without fields when it is absent.
  func message(_ number: Int) throws -> CoreMLMessage {
    try last(number).map { try CoreMLMessage($0.message()) } ?? CoreMLMessage()
  }

  func messages(_ number: Int) throws -> [CoreMLMessage] {
    try all(number).map { try CoreMLMessage($0.message()) }
  }

  /// The entries of a map with string keys, in the order of the file.
  func entries(_ number: Int) throws -> [(key: String, value: CoreMLMessage)] {
    try messages(number).map { (try $0.string(1), try $0.message(2)) }
  }

  private func all(_ number: Int) -> [ProtobufField] { fields[number] ?? [] }

  private func last(_ number: Int) -> ProtobufField? { fields[number]?.last }
}
