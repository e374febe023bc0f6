import GraftTensor

/// Builds a protobuf message. Tensors' elements are referred to, not copied, so a message as large
/// as a model takes little memory of its own.
package struct ProtobufWriter {
  /// All bytes but the tensors'.
  private var bytes: [UInt8] = []
  /// Tensors with the place in `bytes` where their elements belong, in order.
  private var tensors: [(position: Int, tensor: Tensor)] = []
  /// How many bytes the message takes.
  package private(set) var byteCount = 0

  package init() {}

  package mutating func int(_ number: Int, _ value: Int) {
    key(number, wireType: 0)
    varint(UInt64(bitPattern: Int64(value)))
  }

  package mutating func float(_ number: Int, _ value: Float) {
    key(number, wireType: 5)
    append(Self.littleEndian(value))
  }

  package mutating func string(_ number: Int, _ text: String) {
    array(number, Array(text.utf8))
  }

  /// A string; nothing when it is empty.
  package mutating func stringIfAny(_ number: Int, _ text: String) {
    if !text.isEmpty { string(number, text) }
  }

  package mutating func array(_ number: Int, _ value: [UInt8]) {
    key(number, wireType: 2)
    varint(UInt64(value.count))
    append(value)
  }

  package mutating func message(_ number: Int, _ message: ProtobufWriter) {
    key(number, wireType: 2)
    varint(UInt64(message.byteCount))
    let start = bytes.count
    bytes += message.bytes
    tensors += message.tensors.map { ($0.position + start, $0.tensor) }
    byteCount += message.byteCount
  }

  /// The elements of a tensor, little-endian: a bytes field, or a packed list of floats or doubles.
  package mutating func elements(_ number: Int, of tensor: Tensor) {
    key(number, wireType: 2)
    varint(UInt64(tensor.byteCount))
    tensors.append((bytes.count, tensor))
    byteCount += tensor.byteCount
  }

  /// A packed list.
  package mutating func ints(_ number: Int, _ values: [Int]) {
    var list = ProtobufWriter()
    for value in values { list.varint(UInt64(bitPattern: Int64(value))) }
    message(number, list)
  }

  /// A packed list.
  package mutating func floats(_ number: Int, _ values: [Float]) {
    array(number, values.flatMap(Self.littleEndian))
  }

  /// A field encoded before, key and all.
  package mutating func encoded(_ field: [UInt8]) { append(field) }

  /// Calls `sink` with consecutive pieces of the message.
  package func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    try bytes.write(with: tensors, to: sink)
  }

  private mutating func key(_ number: Int, wireType: UInt64) {
    varint(UInt64(number) << 3 | wireType)
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append([UInt8(truncatingIfNeeded: rest) | 0x80])
      rest >>= 7
    }
    append([UInt8(truncatingIfNeeded: rest)])
  }

  private mutating func append(_ more: [UInt8]) {
    bytes += more
    byteCount += more.count
  }

  private static func littleEndian(_ value: Float) -> [UInt8] {
    withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) }
  }
}
