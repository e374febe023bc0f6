import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How each layer of a neural network becomes operators of ONNX.
enum NetworkLayers {
  /// Adds the nodes for one layer. What it cannot express throws `unsupported`.
  typealias Rule = @Sendable (inout NetworkContext, CoreMLLayer) throws -> Void

  /// The rules by the format's name of the layer's kind.
  static let table: [String: Rule] = [
    convolutions, poolings, products, embeddings, activations, unaryLayers, binaryLayers,
    normalizations, pictureLayers, resamplings, reductions, axisReductions, recurrentLayers,
    shapeLayers, indexLayers, constantLayers,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }
}

extension NetworkContext {
  /// Adds the nodes of one layer; one without a rule keeps its own name, so that the model can be
  /// inspected, and running it names the layer.
  mutating func lower(_ layer: CoreMLLayer) throws {
    for input in layer.inputs { _ = try blob(input) }
    guard let rule = NetworkLayers.table[layer.kind] else { return try keep(layer, because: "") }
    do {
      try rule(&self, layer)
    } catch let error as GraftError where error.code == .unsupported {
      try keep(layer, because: error.what)
    }
  }

  private mutating func keep(_ layer: CoreMLLayer, because reason: String) throws {
    let inputs = try layer.inputs.map { try blob($0) }
    let outputs = graph.add(
      layer.kind, inputs.map(\.value), domain: CoreMLGraph.unknownDomain, outputs: layer.outputs,
      documentation: reason)
    let form = inputs.first?.form ?? (isExact ? .exact : .picture)
    for (name, value) in zip(layer.outputs, outputs) {
      graph.declare(value, KnownType(elementType: .float32, rank: nil))
      bind(name, value, form)
    }
  }
}
