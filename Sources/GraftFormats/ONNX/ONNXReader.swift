import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Reads ONNX files of opsets 7 and later.
///
/// Only the structure is read: tensors stay where they lie in the mapped file. Operators are brought
/// to the form of opset 21, and nodes into an order in which they can run.
///
/// What training or running does not need is left out knowingly: `training_info`, quantization
/// annotations, device configurations, denotations, documentation of tensors, and metadata of graphs,
/// nodes and values.
package struct ONNXReader {
  /// Keeps the bytes alive that tensors borrow.
  let owner: AnyObject
  let externalData: ExternalDataReader
  let reading: ScatteredReading

  /// Opens a model file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no ONNX model; `unsupported`.
  package static func read(path: String) throws -> Model {
    try locating(path) {
      let file = try FileMapping(path: path)
      var model = try read(file.bytes, owner: file, baseDirectory: directory(of: path))
      model.origin = ModelOrigin(format: "ONNX", path: path)
      return model
    }
  }

  /// Reads a model from memory.
  ///
  /// - Parameter baseDirectory: the folder that external data must lie in; nil to refuse it.
  package static func read(bytes: [UInt8], baseDirectory: String? = nil) throws -> Model {
    let owner = try HeldBytes(bytes)
    var model = try read(owner.bytes, owner: owner, baseDirectory: baseDirectory)
    model.origin = ModelOrigin(format: "ONNX", path: "")
    return model
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, owner: AnyObject, baseDirectory: String?
  ) throws -> Model {
    try withExtendedLifetime(owner) {
      try refuseOtherFormats(bytes)
      let reader = ONNXReader(
        owner: owner, externalData: ExternalDataReader(directory: baseDirectory),
        reading: ScatteredReading(of: owner))
      do {
        return try reader.model(ProtobufReader(bytes))
      } catch let error as GraftError where error.code == .damaged {
        throw error.suggesting(
          "Check that this is an ONNX model and that all of it is there; if so, export it again")
      }
    }
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// A copy of bytes at an address that stays.
private final class HeldBytes {
  let storage: TensorStorage
  let bytes: UnsafeRawBufferPointer

  init(_ array: [UInt8]) throws {
    let storage = try TensorStorage(byteCount: array.count, zeroed: false)
    array.withUnsafeBytes { source in
      if let start = source.baseAddress {
        storage.base.copyMemory(from: start, byteCount: source.count)
      }
    }
    self.storage = storage
    bytes = UnsafeRawBufferPointer(start: storage.base, count: array.count)
  }
}
