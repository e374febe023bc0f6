import Foundation
import GraftDiagnostics
import GraftTensor

/// How the JSON files of a run are written and read: keys in snake case, dates in ISO 8601.
enum RunFile {
  static func encoder(pretty: Bool) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty
      ? [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      : [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    // JSON has no other way to write a loss that is no number.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return encoder
  }

  static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return decoder
  }

  /// Replaces the file at `url` as a whole.
  static func write(_ value: some Encodable, to url: URL) throws {
    try write(try encoder(pretty: true).encode(value) + Data("\n".utf8), to: url)
  }

  static func write(_ data: Data, to url: URL) throws {
    try replaceFile(at: url.path) { write in try data.withUnsafeBytes { try write($0) } }
  }

  /// - Parameter fix: what to do when the file is damaged.
  /// - Throws: `notFound`, `inputOutput`, or `damaged` with the key that is missing or wrong.
  static func read<Value: Decodable>(_ type: Value.Type, from url: URL, fix: String) throws -> Value
  {
    let data = try contents(of: url)
    do {
      return try decoder().decode(type, from: data)
    } catch {
      throw GraftError(
        .damaged, "the file is damaged: \(explanation(error))", at: [url.path], fix: fix)
    }
  }

  private static func contents(of url: URL) throws -> Data {
    let file = try FileMapping(path: url.path)
    return Data(file.bytes)
  }

  private static func explanation(_ error: any Error) -> String {
    func path(_ context: DecodingError.Context) -> String {
      let keys = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
      return keys.isEmpty ? "the file" : "'\(keys.joined(separator: "."))'"
    }
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      return "\(path(context)) has no '\(key.stringValue)'"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "\(path(context)) has a value of the wrong kind"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      return "\(path(context)) has a value of the wrong kind"
    default: return "it is no JSON"
    }
  }
}
