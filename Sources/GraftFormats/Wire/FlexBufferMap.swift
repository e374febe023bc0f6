import GraftDiagnostics
import GraftGraph

/// A FlexBuffer whose outermost value is a map from names to numbers; values of other kinds are left
/// out. Every offset and length is checked.
///
/// Source: https://flatbuffers.dev/flexbuffers
struct FlexBufferMap {
  private enum Value {
    case integer(Int)
    case float(Double)
  }

  private let bytes: UnsafeRawBufferPointer
  private var values: [String: Value] = [:]

  /// Number of the kind "map", and the most entries and bytes of a name that are read.
  private static let mapKind = 9
  private static let largestCount = 1000
  private static let longestName = 200

  init(_ bytes: UnsafeRawBufferPointer) throws {
    self.bytes = bytes
    guard bytes.count >= 3 else { throw Self.damaged }
    let rootWidth = Int(bytes[bytes.count - 1])
    let kind = Int(bytes[bytes.count - 2])
    guard kind >> 2 == Self.mapKind else { throw Self.damaged }
    try read(
      mapAt: try target(bytes.count - 2 - rootWidth, rootWidth), width: 1 << (kind & 3))
  }

  private mutating func read(mapAt start: Int, width: Int) throws {
    let count = try unsigned(start - width, width)
    let keyWidth = try unsigned(start - 2 * width, width)
    let keys = try target(start - 3 * width, width)
    guard count <= Self.largestCount, [1, 2, 4, 8].contains(keyWidth) else { throw Self.damaged }
    for entry in 0..<count {
      let name = try text(try target(keys + entry * keyWidth, keyWidth))
      let kind = Int(try unsigned(start + count * width + entry, 1))
      values[name] = try value(start + entry * width, width, kind)
    }
  }

  /// A number that stands in the map itself or, of kinds 6 to 8, elsewhere.
  private func value(_ place: Int, _ width: Int, _ kind: Int) throws -> Value? {
    switch kind >> 2 {
    case 1: return .integer(try signed(place, width))
    case 2, 26: return .integer(try unsigned(place, width))
    case 3: return .float(try float(place, width))
    case 6: return .integer(try signed(try target(place, width), 1 << (kind & 3)))
    case 7: return .integer(try unsigned(try target(place, width), 1 << (kind & 3)))
    case 8: return .float(try float(try target(place, width), 1 << (kind & 3)))
    default: return nil
    }
  }

  /// - Throws: `damaged` when there is no such number and no default.
  func integer(_ name: String, default standard: Int? = nil) throws -> Int {
    switch values[name] {
    case .integer(let value): return value
    case .float(let value):
      return try Int(exactly: value).orThrow {
        GraftError(.damaged, "the option '\(name)' is \(value), not a whole number")
      }
    case nil: return try standard.orThrow { Self.missing(name) }
    }
  }

  func float(_ name: String) throws -> Float {
    switch values[name] {
    case .integer(let value): return Float(value)
    case .float(let value): return Float(value)
    case nil: throw Self.missing(name)
    }
  }

  // MARK: Numbers

  private func require(_ place: Int, _ width: Int) throws {
    guard place >= 0, [1, 2, 4, 8].contains(width), place <= bytes.count - width else {
      throw Self.damaged
    }
  }

  private func unsigned(_ place: Int, _ width: Int) throws -> Int {
    try require(place, width)
    var value: UInt64 = 0
    for byte in 0..<width { value |= UInt64(bytes[place + byte]) << (8 * UInt64(byte)) }
    return try Int(exactly: value).orThrow { Self.damaged }
  }

  private func signed(_ place: Int, _ width: Int) throws -> Int {
    try require(place, width)
    var value: UInt64 = 0
    for byte in 0..<width { value |= UInt64(bytes[place + byte]) << (8 * UInt64(byte)) }
    let unused = UInt64(64 - 8 * width)
    return Int(Int64(bitPattern: value << unused) >> Int64(unused))
  }

  private func float(_ place: Int, _ width: Int) throws -> Double {
    try require(place, width)
    switch width {
    case 4:
      let bits = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
      return Double(Float(bitPattern: UInt32(littleEndian: bits)))
    case 8:
      let bits = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      return Double(bitPattern: UInt64(littleEndian: bits))
    default: throw Self.damaged
    }
  }

  /// Where an offset leads, which counts backwards.
  private func target(_ place: Int, _ width: Int) throws -> Int {
    let offset = try unsigned(place, width)
    guard offset > 0, offset <= place else { throw Self.damaged }
    return place - offset
  }

  /// A name, which ends with 0.
  private func text(_ place: Int) throws -> String {
    let characters = bytes[place...].prefix(Self.longestName).prefix { $0 != 0 }
    return String(decoding: characters, as: UTF8.self)
  }

  private static var damaged: GraftError {
    GraftError(.damaged, "its options are no map of names and numbers")
  }

  private static func missing(_ name: String) -> GraftError {
    GraftError(.damaged, "the option '\(name)' is missing")
  }
}
