import Foundation
import GraftDiagnostics
import GraftTensor

/// The JSON header of a safetensors file: one entry for each tensor, and the metadata.
struct SafetensorsHeader {
  /// Where a tensor lies behind the header, and what it is.
  struct Entry {
    let elementType: ElementType
    let shape: Shape
    let offsets: Range<Int>
  }

  var entries: [String: Entry] = [:]
  var metadata: [String: String] = [:]

  static let metadataKey = "__metadata__"

  /// - Throws: `damaged` when the JSON does not hold what it should, `unsupported` for an unknown
  ///   element type.
  init(json: Data) throws {
    do {
      let parts = try JSONDecoder().decode(Parts.self, from: json)
      metadata = parts.metadata
      for (name, entry) in parts.entries {
        entries[name] = try locating("tensor '\(name)'") { try Entry(entry) }
      }
    } catch let error as DecodingError {
      throw GraftError(
        .damaged, "the header is not that of a safetensors file: \(error.reason)",
        fix: "Check that this is a safetensors file")
    }
  }

  init(entries: [String: Entry], metadata: [String: String]) {
    self.entries = entries
    self.metadata = metadata
  }

  /// Entries by the position of their bytes; empty ones at one position by name.
  var entriesInFileOrder: [(name: String, entry: Entry)] {
    entries.map { ($0.key, $0.value) }.sorted { a, b in
      (a.1.offsets.lowerBound, a.1.offsets.upperBound, a.0)
        < (b.1.offsets.lowerBound, b.1.offsets.upperBound, b.0)
    }
  }

  /// The JSON with its keys sorted, so that equal headers give equal bytes.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(Parts(entries: entries.mapValues(RawEntry.init), metadata: metadata))
  }
}

extension SafetensorsHeader.Entry {
  fileprivate init(_ raw: RawEntry) throws {
    guard let elementType = ElementType(safetensorsName: raw.dtype) else {
      throw GraftError(
        .unsupported, "the element type '\(raw.dtype)' is not known",
        fix: didYouMean(raw.dtype, among: ElementType.allCases.compactMap(\.safetensorsName)))
    }
    guard raw.offsets.count == 2, let begin = raw.offsets.first,
      let end = raw.offsets.last, begin >= 0, begin <= end
    else {
      throw GraftError(.damaged, "its offsets \(raw.offsets) are no range of bytes")
    }
    self.init(elementType: elementType, shape: Shape(raw.shape), offsets: begin..<end)
  }
}

/// A tensor's entry as it stands in the JSON.
private struct RawEntry: Codable {
  let dtype: String
  let shape: [Int]
  let offsets: [Int]

  enum CodingKeys: String, CodingKey {
    case dtype
    case shape
    case offsets = "data_offsets"
  }

  init(_ entry: SafetensorsHeader.Entry) {
    dtype = entry.elementType.safetensorsName ?? ""
    shape = entry.shape.dimensions
    offsets = [entry.offsets.lowerBound, entry.offsets.upperBound]
  }
}

/// The header as it stands in the JSON: tensors and the metadata side by side in one object.
private struct Parts: Codable {
  var entries: [String: RawEntry]
  var metadata: [String: String]

  init(entries: [String: RawEntry], metadata: [String: String]) {
    self.entries = entries
    self.metadata = metadata
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    entries = [:]
    metadata = [:]
    for name in container.allKeys {
      if name.stringValue == SafetensorsHeader.metadataKey {
        metadata = try container.decode([String: String].self, forKey: name)
      } else {
        entries[name.stringValue] = try container.decode(RawEntry.self, forKey: name)
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for (name, entry) in entries { try container.encode(entry, forKey: Name(stringValue: name)) }
    if !metadata.isEmpty {
      try container.encode(metadata, forKey: Name(stringValue: SafetensorsHeader.metadataKey))
    }
  }

  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension DecodingError {
  /// What is wrong and at which key, in one line.
  fileprivate var reason: String {
    switch self {
    case .keyNotFound(let key, let context):
      "\(Self.place(context))there is no '\(key.stringValue)'"
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      "\(Self.place(context))a value is no \(type)"
    case .dataCorrupted(let context):
      "\(Self.place(context))its JSON is broken or has a number that is no 64-bit integer"
    @unknown default: "\(self)"
    }
  }

  private static func place(_ context: Context) -> String {
    context.codingPath.map { "'\($0.stringValue)': " }.joined()
  }
}
