import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

extension SafetensorsFile {
  /// Writes tensors, replacing a file that is there only when all has been written.
  ///
  /// Types with larger alignment come first and tensors of one alignment keep their order, so that
  /// every tensor can be used where it lies. Equal input gives equal bytes.
  ///
  /// - Throws: `unsupported` for an element type that the format lacks, `invalidArgument` for a
  ///   tensor named `__metadata__`, `inputOutput`.
  package static func write(
    _ tensors: OrderedTable<Tensor>, metadata: [String: String] = [:], to path: String
  ) throws {
    let pairs = tensors.enumerated().sorted { a, b in
      let (first, second) = (a.element.value.elementType, b.element.value.elementType)
      return (second.alignment, a.offset) < (first.alignment, b.offset)
    }.map(\.element)
    let header = try locating(path) { try paddedHeader(for: pairs, metadata) }
    try replaceFile(at: path) { write in
      try withUnsafeBytes(of: UInt64(header.count).littleEndian) { try write($0) }
      try header.withUnsafeBytes { try write($0) }
      for (_, tensor) in pairs { try tensor.withUnsafeBytes { try write($0) } }
    }
  }

  /// The JSON header, filled up with spaces so that the data begins at a multiple of 8.
  private static func paddedHeader(
    for tensors: [(key: String, value: Tensor)], _ metadata: [String: String]
  ) throws -> Data {
    var header = SafetensorsHeader(entries: [:], metadata: metadata)
    var offset = 0
    for (name, tensor) in tensors {
      guard tensor.elementType.safetensorsName != nil else {
        throw GraftError(
          .unsupported, "safetensors has no element type \(tensor.elementType)",
          at: ["tensor '\(name)'"])
      }
      guard name != SafetensorsHeader.metadataKey else {
        throw GraftError(
          .invalidArgument, "a tensor cannot be named '\(name)'", fix: "Rename the tensor")
      }
      header.entries[name] = SafetensorsHeader.Entry(
        elementType: tensor.elementType, shape: tensor.shape,
        offsets: offset..<offset + tensor.byteCount)
      offset += tensor.byteCount
    }
    var json = try header.json()
    guard json.count < largestHeader else {
      throw GraftError(
        .unsupported,
        "a header of \(json.count) bytes is over the format's limit of \(largestHeader)")
    }
    json.append(contentsOf: repeatElement(UInt8(ascii: " "), count: (8 - json.count % 8) % 8))
    return json
  }
}
