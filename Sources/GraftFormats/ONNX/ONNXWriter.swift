import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Writes models as ONNX files.
package enum ONNXWriter {
  /// The opset of models that were not read from an ONNX file; ONNX Runtime reads it since 1.12.
  package static let defaultOpset = 17
  /// The opsets that can be written.
  package static let opsets = 7...22

  /// Writes a model file, replacing one that is there when all has been written.
  ///
  /// - Parameters:
  ///   - opset: the version of ONNX's operators; by default that of the file the model was read
  ///     from where it can be written, else 17.
  ///   - externalData: whether tensors go into a file beside the model's, named like it with
  ///     `.data` added; by default only when the model is too large for one file.
  /// - Throws: `unsupported` when an operator does not exist at the opset, `inputOutput`.
  package static func write(
    _ model: Model, to path: String, opset: Int? = nil, externalData: Bool? = nil
  ) throws {
    try locating(path) {
      let model = try prepare(model, opset)
      let isLarge = model.graph.storedByteCount > Self.byteLimit
      guard externalData ?? isLarge else {
        let message = ONNXEncoder(layout: nil).model(model.graph, model)
        return try replaceFile(at: path) { try message.write(to: $0) }
      }
      let name = path.split(separator: "/").last.map(String.init) ?? path
      let layout = ExternalDataLayout(model.graph, location: name + ".data")
      let message = ONNXEncoder(layout: layout).model(model.graph, model)
      try replaceFile(at: path + ".data") { try layout.write(to: $0) }
      try replaceFile(at: path) { try message.write(to: $0) }
    }
  }

  /// The bytes that `write` puts into a file without external data.
  package static func encode(_ model: Model, opset: Int? = nil) throws -> [UInt8] {
    let model = try prepare(model, opset)
    let message = ONNXEncoder(layout: nil).model(model.graph, model)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(message.byteCount)
    try message.write { bytes += $0 }
    return bytes
  }

  /// protobuf's limit of 2 GiB for one message, less some room for the structure.
  private static let byteLimit = 1_900_000_000

  /// The model with its graph at the opset to write, which becomes its original one.
  private static func prepare(_ model: Model, _ requested: Int?) throws -> Model {
    let original = model.originalOpset.flatMap { opsets.contains($0) ? $0 : nil }
    let opset = requested ?? original ?? defaultOpset
    guard opsets.contains(opset) else {
      throw GraftError(
        .unsupported, "opset \(opset) cannot be written",
        fix: "Choose an opset from \(opsets.lowerBound) to \(opsets.upperBound)")
    }
    try refuseOwnOperators(model.graph)
    var model = model
    model.graph = try OpsetConversion.downgrade(model.graph, to: opset)
    model.originalOpset = opset
    return model
  }

  private static func refuseOwnOperators(_ graph: Graph) throws {
    if let node = graph.allNodes.first(where: { $0.has("graft_cell_clip") }) {
      throw GraftError(
        .unsupported, "ONNX has no bound of an LSTM's cells", at: [node.place],
        fix: "Write the model as Core ML, or make it without the bound")
    }
    let own = graph.allNodes.filter { $0.domain == graftDomain }
    guard let first = own.first else { return }
    let names = Set(own.map(\.op)).sorted().joined(separator: ", ")
    let isExact = own.contains { $0.op.hasPrefix("FixedPoint") }
    throw GraftError(
      .unsupported, "ONNX has no operators \(names), which only Graft knows", at: [first.place],
      fix: isExact
        ? "Open the model with float arithmetic"
        : "Write the model before it is made ready for training")
  }
}

extension Graph {
  /// The nodes, those of subgraphs included.
  var allNodes: [Node] {
    nodes.flatMap { [$0] + $0.subgraphs.flatMap(\.allNodes) }
  }

  /// How many bytes the initializers take.
  fileprivate var storedByteCount: Int {
    initializers.reduce(0) { $0 + $1.value.byteCount }
  }
}
