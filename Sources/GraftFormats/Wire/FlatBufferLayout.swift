import GraftDiagnostics
import GraftTensor

/// The bytes of a FlatBuffer while it is built, front to back: first a table, then what its fields
/// lead to. Tensors' elements only have a place.
struct FlatBufferLayout {
  /// All bytes but the tensors'.
  private var bytes: [UInt8] = []
  /// Tensors with the place in `bytes` where their elements belong, in order.
  private var tensors: [(position: Int, tensor: Tensor)] = []
  /// How long the tensors are together.
  private var tensorByteCount = 0
  /// Where field offsets of tables lie, by their bytes.
  private var vtables: [[UInt8]: Int] = [:]

  /// How far offsets reach.
  private static let largest = Int(Int32.max)

  /// Where an offset lies: in the buffer, and in `bytes`.
  private struct Place {
    let position: Int
    let index: Int
  }

  /// An offset to fill in, and what it leads to.
  private struct Reference {
    let place: Place
    let value: FlatBufferWriter.Value
  }

  /// The position of the next byte in the buffer.
  private var end: Int { bytes.count + tensorByteCount }

  /// Adds the whole buffer.
  mutating func add(_ root: FlatBufferWriter, identifier: String) throws {
    append(0)
    bytes += Array(identifier.utf8.prefix(4))
    try fill([Reference(place: Place(position: 0, index: 0), value: .table(root))])
    guard end <= Self.largest else { throw tooLarge }
  }

  /// Adds what the references lead to, each followed by what it leads to itself.
  private mutating func fill(_ references: [Reference]) throws {
    // The last of the list is next, so that places are in the order of the fields.
    var pending = Array(references.reversed())
    while let next = pending.popLast() {
      let inner = try add(next.value, for: next.place)
      pending += inner.reversed()
    }
  }

  /// Adds a value, sets the offset at `place` to it, and gives what it leads to.
  private mutating func add(_ value: FlatBufferWriter.Value, for place: Place) throws
    -> [Reference]
  {
    switch value {
    case .scalar: return []
    case .table(let table): return try add(table, for: place)
    case .tables(let tables): return try addList(tables.map { .table($0) }, for: place)
    case .strings(let texts): return try addList(texts.map { .string($0) }, for: place)
    case .string(let text):
      try startVector(text.utf8.count, alignment: 1, for: place)
      bytes += Array(text.utf8) + [0]
    case .vector(let elements, let width):
      try startVector(elements.count / width, alignment: width, for: place)
      bytes += elements
    case .elements(let tensor):
      try startVector(tensor.byteCount, alignment: 16, for: place)
      tensors.append((bytes.count, tensor))
      tensorByteCount += tensor.byteCount
    }
    return []
  }

  private mutating func addList(_ values: [FlatBufferWriter.Value], for place: Place) throws
    -> [Reference]
  {
    try startVector(values.count, alignment: 4, for: place)
    return values.map { refer(to: $0) }
  }

  /// Adds a list's length, placed so that what follows is aligned.
  private mutating func startVector(_ count: Int, alignment: Int, for place: Place) throws {
    align(max(4, alignment), before: 4)
    try setOffset(place)
    guard let length = UInt32(exactly: count) else { throw tooLarge }
    append(length)
  }

  // MARK: Tables

  private mutating func add(_ table: FlatBufferWriter, for place: Place) throws -> [Reference] {
    // Large fields first, so that all lie aligned without gaps.
    let fields = table.fields.sorted { $0.value.inlineByteCount > $1.value.inlineByteCount }
    let byteCount = 4 + fields.reduce(0) { $0 + $1.value.inlineByteCount }
    var offsets = [UInt16](repeating: 0, count: (fields.map(\.number).max() ?? -1) + 1)
    var offset = 4
    for field in fields {
      offsets[field.number] = UInt16(offset)
      offset += field.value.inlineByteCount
    }
    let vtable = ([UInt16(4 + 2 * offsets.count), UInt16(byteCount)] + offsets).flatMap {
      FlatBufferWriter.littleEndian($0)
    }
    let known = vtables[vtable]
    let vtablePosition =
      known
      ?? {
        align(2, before: 0)
        return end
      }()
    if known == nil {
      vtables[vtable] = vtablePosition
      bytes += vtable
    }
    // Behind the first four bytes an eight-byte field may follow.
    align(fields.first?.value.inlineByteCount == 8 ? 8 : 4, before: 4)
    try setOffset(place)
    append(UInt32(bitPattern: Int32(end - vtablePosition)))
    var references: [Reference] = []
    for field in fields {
      if case .scalar(let value) = field.value {
        bytes += value
      } else {
        references.append(refer(to: field.value))
      }
    }
    return references
  }

  // MARK: Bytes

  /// Calls `sink` with consecutive pieces of the buffer.
  func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    try bytes.write(with: tensors, to: sink)
  }

  /// Adds zeros until a multiple of `alignment` is `before` bytes ahead.
  private mutating func align(_ alignment: Int, before: Int) {
    while (end + before) % alignment != 0 { bytes.append(0) }
  }

  private mutating func append(_ number: UInt32) {
    bytes += FlatBufferWriter.littleEndian(number)
  }

  /// Adds an offset to fill in later.
  private mutating func refer(to value: FlatBufferWriter.Value) -> Reference {
    defer { append(0) }
    return Reference(place: Place(position: end, index: bytes.count), value: value)
  }

  /// Makes the offset at `place` lead to the next byte.
  private mutating func setOffset(_ place: Place) throws {
    guard end <= Self.largest else { throw tooLarge }
    let offset = FlatBufferWriter.littleEndian(UInt32(end - place.position))
    bytes.replaceSubrange(place.index..<place.index + 4, with: offset)
  }

  private var tooLarge: GraftError {
    GraftError(
      .unsupported, "the data do not fit into one FlatBuffer, which holds 2 GiB",
      fix: "Store large tensors in a file beside it")
  }
}

extension FlatBufferWriter.Value {
  /// How many bytes the value takes in its table: its own, or an offset's.
  fileprivate var inlineByteCount: Int {
    if case .scalar(let bytes) = self { bytes.count } else { 4 }
  }
}
