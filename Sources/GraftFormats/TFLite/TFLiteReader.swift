import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Reads TensorFlow Lite files (`.tflite`).
///
/// The first subgraph becomes a graph of ONNX's operators; others are only there for control flow,
/// which is not carried over. Inputs and outputs keep the names of the file's signature if there is
/// one, the element types and the order of axes (batch, height, width, channels) of the file.
/// Variables, such as the state of recurrent layers, start at zero in every run.
package struct TFLiteReader {
  /// Opens a model file; weights are used where they lie.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no TensorFlow Lite model;
  ///   `unsupported` for another version of the format.
  package static func read(path: String, arithmetic: TFLiteArithmetic = .float) throws -> Model {
    try locating(path) {
      var model = try read(TFLiteFile(path: path), arithmetic: arithmetic)
      model.origin = ModelOrigin(format: formatName, path: path)
      return model
    }
  }

  /// Reads a model from memory.
  package static func read(bytes: [UInt8], arithmetic: TFLiteArithmetic = .float) throws -> Model {
    let owner = try TensorStorage(byteCount: bytes.count, zeroed: false)
    bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        owner.base.copyMemory(from: start, byteCount: source.count)
      }
    }
    let copy = UnsafeRawBufferPointer(start: owner.base, count: bytes.count)
    var model = try read(TFLiteFile(copy, owner: owner), arithmetic: arithmetic)
    model.origin = ModelOrigin(format: formatName, path: "")
    return model
  }

  /// The format's name in `Model.origin`.
  package static let formatName = "TensorFlow Lite"

  /// Whether a file begins like a TensorFlow Lite model.
  package static func isModel(_ path: String) -> Bool {
    guard let file = try? FileMapping(path: path) else { return false }
    return withExtendedLifetime(file) { TFLiteFile.matches(file.bytes) }
  }

  static func read(_ file: TFLiteFile, arithmetic: TFLiteArithmetic) throws -> Model {
    try withExtendedLifetime(file.owner) {
      let subgraph = file.subgraphs[0]
      var given: [Int: String] = [:]
      if let signature = file.signatures.first(where: { $0.subgraph == 0 }) {
        for (name, tensor) in signature.outputs + signature.inputs where !name.isEmpty {
          given[tensor] = name
        }
      }
      var context = LoweringContext(file, subgraph, arithmetic: arithmetic, given: given)
      try context.lower()
      var graph = try context.graph.verified()
      graph.name = subgraph.name
      graph.removeUnread()
      var model = Model(graph: graph)
      model.documentation = file.description
      try readMetadata(file, into: &model)
      return model
    }
  }
}

extension Graph {
  /// Takes out nodes and initializers that no output needs; unknown operators stay.
  fileprivate mutating func removeUnread() {
    var needed = Set(outputs.map(\.name))
    var kept: [Node] = []
    for node in nodes.reversed() {
      let isUnknown = node.domain == LoweringContext.unknownDomain
      guard isUnknown || node.outputs.contains(where: needed.contains) else { continue }
      needed.formUnion(node.reads)
      kept.append(node)
    }
    nodes = kept.reversed()
    initializers = initializers.filter { name, _ in needed.contains(name) }
  }
}
