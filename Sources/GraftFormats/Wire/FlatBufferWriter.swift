import GraftDiagnostics
import GraftTensor

/// Builds a table of a FlatBuffer, field by field, and writes a buffer with it as the outermost.
///
/// Tables lie before what they refer to, and equal field offsets of tables are stored once. Tensors'
/// elements are referred to, not copied, until they are written.
package struct FlatBufferWriter {
  enum Value {
    /// Little-endian; as many bytes as its alignment.
    case scalar([UInt8])
    case table(FlatBufferWriter)
    case tables([FlatBufferWriter])
    case string(String)
    case strings([String])
    /// Elements of `width` bytes each.
    case vector([UInt8], width: Int)
    case elements(Tensor)
  }

  private(set) var fields: [(number: Int, value: Value)] = []

  package init() {}

  package mutating func integer<Number: FixedWidthInteger>(_ field: Int, _ value: Number) {
    fields.append((field, .scalar(Self.littleEndian(value))))
  }

  package mutating func bool(_ field: Int, _ value: Bool) { integer(field, UInt8(value ? 1 : 0)) }

  package mutating func float(_ field: Int, _ value: Float) { integer(field, value.bitPattern) }

  package mutating func double(_ field: Int, _ value: Double) { integer(field, value.bitPattern) }

  package mutating func string(_ field: Int, _ value: String) {
    fields.append((field, .string(value)))
  }

  package mutating func strings(_ field: Int, _ values: [String]) {
    fields.append((field, .strings(values)))
  }

  package mutating func table(_ field: Int, _ value: FlatBufferWriter) {
    fields.append((field, .table(value)))
  }

  package mutating func tables(_ field: Int, _ values: [FlatBufferWriter]) {
    fields.append((field, .tables(values)))
  }

  package mutating func bytes(_ field: Int, _ value: [UInt8]) {
    fields.append((field, .vector(value, width: 1)))
  }

  package mutating func integers<Number: FixedWidthInteger>(_ field: Int, _ values: [Number]) {
    var bytes: [UInt8] = []
    for value in values { bytes += Self.littleEndian(value) }
    fields.append((field, .vector(bytes, width: MemoryLayout<Number>.size)))
  }

  package mutating func floats(_ field: Int, _ values: [Float]) {
    integers(field, values.map(\.bitPattern))
  }

  /// The elements of a tensor as a list of bytes, aligned to 16 so that they can be used where they
  /// lie.
  package mutating func elements(_ field: Int, of tensor: Tensor) {
    fields.append((field, .elements(tensor)))
  }

  /// Calls `sink` with consecutive pieces of a buffer whose outermost table this is.
  ///
  /// - Parameter identifier: the four letters behind the first offset.
  /// - Throws: `unsupported` when the buffer would be larger than the 2 GiB that its offsets reach.
  package func write(
    identifier: String, to sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var layout = FlatBufferLayout()
    try layout.add(self, identifier: identifier)
    try layout.write(to: sink)
  }

  static func littleEndian<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}
