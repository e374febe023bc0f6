import GraftDiagnostics
import GraftGraph
import GraftTensor

extension Model {
  /// The model cut to feature vectors: one output [batch, D] for each specification, in their order and
  /// under their text as name, with the pooling `average` where a layer needs one and none is given.
  /// All are computed in one run, and shared layers once. A quantised model is dequantised first.
  ///
  /// - Parameter specifications: values of the model with the batch first, and how they are pooled.
  /// - Throws: `invalidArgument` when there is no such layer, naming those that there are, or the
  ///   pooling does not fit its shape.
  public func features(_ specifications: [FeatureSpecification]) throws -> Model {
    guard !specifications.isEmpty else {
      throw GraftError(.invalidArgument, "no features are asked for", fix: "Name a layer")
    }
    var model = try dequantized()
    let layers = FeatureLayers(of: model)
    var builder = GraphBuilder(model.graph)
    var outputs: [Feature] = []
    for specification in specifications {
      try locating("features '\(specification)'") {
        let resolved = try layers.resolved(specification)
        let name = resolved.description
        if outputs.contains(where: { $0.name == name }) { return }
        let size = try layers.add(resolved, to: &builder)
        outputs.append(
          Feature(name: name, type: .tensor(.float32, shape: [layers.batch, .fixed(size)])))
      }
    }
    model.graph = builder.graph
    model.graph.outputs = outputs
    model.graph = model.graph.pruned(to: outputs)
    model.labels = nil
    return model
  }

  /// The names of the values that features can be taken from, in the order in which they are computed.
  ///
  /// Inner steps of layers, whose names hold a slash, are left out when there are others.
  public var featureLayers: [String] { FeatureLayers(of: self).names }
}
