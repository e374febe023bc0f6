import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A safetensors file: named tensors and a table of strings.
///
/// The file is mapped and its tensors lie in the mapping; opening reads the header only. Source:
/// the format description at https://huggingface.co/docs/safetensors.
package struct SafetensorsFile: Sendable {
  /// The tensors in the order in which they lie in the file.
  package let tensors: OrderedTable<Tensor>
  /// The strings under `__metadata__`.
  package let metadata: [String: String]

  /// Opens a file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the header is no valid JSON or a tensor lies
  ///   outside the file; `unsupported` for an element type that Graft does not know.
  package init(path: String) throws {
    let mapping = try FileMapping(path: path)
    (tensors, metadata) = try locating(path) { try Self.read(mapping) }
  }

  private static func read(_ file: FileMapping) throws -> (OrderedTable<Tensor>, [String: String]) {
    let (header, data) = try sections(of: file.bytes)
    var tensors = OrderedTable<Tensor>()
    for (name, entry) in header.entriesInFileOrder {
      tensors[name] = try locating("tensor '\(name)'") {
        let (begin, end) = (entry.offsets.lowerBound, entry.offsets.upperBound)
        guard end <= data.count else {
          throw GraftError(
            .damaged,
            "its bytes \(begin) to \(end) lie outside the \(data.count) bytes of data",
            fix: "Get the file again: it may be cut off")
        }
        return try Tensor(
          borrowing: UnsafeRawBufferPointer(rebasing: data[begin..<end]), entry.elementType,
          shape: entry.shape, owner: file)
      }
    }
    return (tensors, header.metadata)
  }

  /// The header, which an eight-byte length precedes, and the bytes behind it.
  private static func sections(of bytes: UnsafeRawBufferPointer) throws
    -> (SafetensorsHeader, UnsafeRawBufferPointer)
  {
    guard bytes.count >= lengthByteCount else {
      throw GraftError(
        .damaged, "a safetensors file has at least 8 bytes, and this one has \(bytes.count)")
    }
    let length = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    guard length <= largestHeader else {
      throw GraftError(
        .damaged,
        "a header of \(length) bytes is announced, and at most \(largestHeader) are allowed",
        fix: "Check that this is a safetensors file")
    }
    let dataStart = lengthByteCount + Int(length)
    guard dataStart <= bytes.count else {
      throw GraftError(
        .damaged, "the header ends at byte \(dataStart), and the file at byte \(bytes.count)",
        fix: "Get the file again: it may be cut off")
    }
    let header = try SafetensorsHeader(json: Data(bytes[lengthByteCount..<dataStart]))
    return (header, UnsafeRawBufferPointer(rebasing: bytes[dataStart...]))
  }

  static let lengthByteCount = 8
  /// The format's own limit, in bytes.
  static let largestHeader: UInt64 = 100_000_000
}
