import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Reads TensorFlow Lite files (`.tflite`).
///
/// One subgraph becomes a graph of ONNX's operators: that of the signature asked for, else the first.
/// Control flow between subgraphs is not carried over. Inputs and outputs keep the names of the
/// signature if there is one, the element types and the order of axes (batch, height, width, channels)
/// of the file. The state of recurrent layers starts at zero in every run; other variables become
/// inputs that need not be fed, and outputs.
package struct TFLiteReader {
  /// Opens a model file; weights are used where they lie.
  ///
  /// - Parameter signature: the name of a way into the model, such as `serving_default`.
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no TensorFlow Lite model;
  ///   `unsupported` for another version of the format; `invalidArgument` when there is no such
  ///   signature.
  package static func read(
    path: String, arithmetic: TFLiteArithmetic = .float, signature: String? = nil
  ) throws -> Model {
    try locating(path) {
      var model = try read(
        TFLiteFile(path: path), arithmetic: arithmetic, signature: signature)
      model.origin = ModelOrigin(format: formatName, path: path)
      return model
    }
  }

  /// Reads a model from memory.
  package static func read(
    bytes: [UInt8], arithmetic: TFLiteArithmetic = .float, signature: String? = nil
  ) throws -> Model {
    let owner = try TensorStorage(byteCount: bytes.count, zeroed: false)
    bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        owner.base.copyMemory(from: start, byteCount: source.count)
      }
    }
    let copy = UnsafeRawBufferPointer(start: owner.base, count: bytes.count)
    var model = try read(
      TFLiteFile(copy, owner: owner), arithmetic: arithmetic, signature: signature)
    model.origin = ModelOrigin(format: formatName, path: "")
    return model
  }

  /// The signature of that name; without a name one of the first subgraph, if there is any.
  private static func signature(_ name: String?, in file: TFLiteFile) throws -> TFLiteSignature? {
    guard let name else { return file.signatures.first { $0.subgraph == 0 } }
    return try file.signatures.first { $0.key == name }.orThrow {
      let names = file.signatures.map(\.key)
      return GraftError(
        .invalidArgument, "the model has no signature '\(name)'",
        fix: didYouMean(name, among: names)
          ?? (names.isEmpty ? nil : "Choose one of: \(names.joined(separator: ", "))"))
    }
  }

  /// The format's name in `Model.origin`.
  package static let formatName = "TensorFlow Lite"

  /// Whether a file begins like a TensorFlow Lite model.
  package static func isModel(_ path: String) -> Bool {
    guard let file = try? FileMapping(path: path) else { return false }
    return withExtendedLifetime(file) { TFLiteFile.matches(file.bytes) }
  }

  private static func read(
    _ file: TFLiteFile, arithmetic: TFLiteArithmetic, signature: String?
  ) throws -> Model {
    try withExtendedLifetime(file.owner) {
      let chosen = try self.signature(signature, in: file)
      let subgraph = file.subgraphs[chosen?.subgraph ?? 0]
      var given: [Int: String] = [:]
      for (name, tensor) in (chosen?.outputs ?? []) + (chosen?.inputs ?? []) where !name.isEmpty {
        given[tensor] = name
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
