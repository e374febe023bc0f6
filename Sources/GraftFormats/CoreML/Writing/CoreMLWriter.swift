import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Writes models as Core ML files: neural networks (`.mlmodel`) and ML programs (`.mlpackage`).
///
/// Pictures that the model takes as bytes, or for which it notes a normalization, are image inputs.
/// Class labels make the model a classifier. Open sizes stand as 1; only networks of pictures and
/// vectors keep an open batch.
package enum CoreMLWriter {
  /// Writes a neural network, or a nearest-neighbour classifier behind one, replacing a file that is
  /// there when all has been written.
  ///
  /// - Parameters:
  ///   - model: the network with the types of its values; nil when there are only neighbours.
  ///   - neighbors: what comes behind the network.
  /// - Throws: `unsupported` naming all nodes that have no form in Core ML; `inputOutput`.
  package static func writeNetwork(
    _ model: (model: Model, shapes: TFLiteShapes)?, neighbors: CoreMLNeighbors? = nil,
    weights: TFLiteWeights = .float32, to path: String
  ) throws {
    try locating(path) {
      var message: ProtobufWriter
      if let neighbors {
        let network = try model.map {
          try NetworkFile($0.model, $0.shapes, weights: weights, vectors: neighbors.width)
        }
        message = try neighbors.encoded(behind: network)
      } else if let model {
        message = try NetworkFile(model.model, model.shapes, weights: weights).encoded()
      } else {
        throw GraftError(.internalFault, "nothing is to be written")
      }
      try replaceFile(at: path) { try message.write(to: $0) }
    }
  }

  /// Writes an ML program as a package, replacing one that is there when all has been written. What a
  /// model says about updates is left out: programs cannot be updated.
  ///
  /// - Throws: `unsupported` naming all nodes that have no form in Core ML; `inputOutput`.
  package static func writeProgram(
    _ model: Model, _ shapes: TFLiteShapes, weights: TFLiteWeights = .float32, to path: String
  ) throws {
    try locating(path) {
      let classifier = ClassifierOutput(model)
      var lowering = CoreMLLowering(
        model.graph.keeping(classifier), shapes, isProgram: true)
      try lowering.lower()
      lowering.draft.prune()
      var encoder = ProgramEncoder(lowering.draft, weights: weights, classifier: classifier)
      let program = try encoder.encoded()
      var description = CoreMLFeatures(lowering.draft, classifier, isExact: true)
      description.rename {
        encoder.names[$0]
      } output: {
        encoder.names[output: $0]
      }
      let message = ProtobufWriter { message in
        message.int(1, ProgramEncoder.specificationVersion)
        message.message(2, description.encoded(of: model))
        message.message(502, program)
      }
      try CoreMLPackage(message, encoder.file).write(to: path)
    }
  }
}

/// Which output of a model holds the probabilities of its classes.
struct ClassifierOutput {
  /// The graph's output.
  let scores: String
  let labels: CoreMLLabels
  /// The names that the file has for the best label and for all probabilities.
  let label: String
  let probabilities: String

  /// Nil for a model without classes.
  init?(_ model: Model) {
    if let description = CoreMLDescription(of: model), let labels = description.classLabels {
      guard
        let scores = Self.scores(model.graph, description)
      else { return nil }
      self.scores = scores
      self.labels = labels
      label = description.predictedFeatureName
      probabilities =
        description.predictedProbabilitiesName.isEmpty
        ? "classProbability" : description.predictedProbabilitiesName
      return
    }
    guard
      let names = model.metadata["labels"].flatMap({
        try? JSONDecoder().decode([String].self, from: Data($0.utf8))
      }), !names.isEmpty,
      let output = model.graph.outputs.first(where: { feature in
        guard case .tensor(.float32, let shape?) = feature.type else { return false }
        return shape.last == .fixed(names.count) && shape.count == 2
      })
    else { return nil }
    scores = output.name
    labels = .strings(names)
    probabilities = output.name
    label =
      model.graph.outputs.contains { $0.name == "classLabel" } ? "predictedLabel" : "classLabel"
  }

  private static func scores(_ graph: Graph, _ description: CoreMLDescription) -> String? {
    let named = description.predictedProbabilitiesName
    if graph.outputs.contains(where: { $0.name == named }) { return named }
    let maker = graph.nodes.first { $0.outputs.contains(description.predictedFeatureName) }
    return maker?.op == "ArgMax" ? maker?.inputs.first : nil
  }
}

extension CoreMLDescription {
  /// What a model notes of the Core ML file that it comes from, or is to be; nil when it notes
  /// nothing.
  init?(of model: Model) {
    guard
      let text = model.metadata[CoreMLReader.metadataKey],
      let description = try? JSONDecoder().decode(CoreMLDescription.self, from: Data(text.utf8))
    else { return nil }
    self = description
  }
}

extension Graph {
  /// The graph with a classifier's probabilities instead of its label.
  func keeping(_ classifier: ClassifierOutput?) -> Graph {
    guard let classifier else { return self }
    var graph = self
    graph.outputs.removeAll { $0.name == classifier.label }
    if !graph.outputs.contains(where: { $0.name == classifier.scores }) {
      graph.outputs.insert(Feature(name: classifier.scores, type: .unknown), at: 0)
    }
    return graph
  }
}
