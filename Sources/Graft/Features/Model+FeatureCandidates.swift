import GraftGraph

extension Model {
  /// The features among which an automatic choice is made: the model's first output, and of its layers
  /// with 4 to 16 rows and columns the means of channels, and means and maxima of 3 x 3 cells. Of a model
  /// without such layers, its layers that are vectors.
  ///
  /// Of many layers a dozen is taken, evenly, the last one always. Vectors of more than 8192 features
  /// are left out.
  ///
  /// - Throws: `invalidArgument` when there is none.
  public var featureCandidates: [FeatureSpecification] {
    get throws {
      let layers = FeatureLayers(of: self)
      var candidates: [FeatureSpecification] = []
      if let output = outputs.first?.name, layers.hasFeatures(output) {
        candidates.append(FeatureSpecification(layer: output))
      }
      let maps = layers.maps(sides: 4...16)
      if maps.isEmpty {
        let vectors = layers.vectors(upTo: Self.mostFeatures).filter { $0 != outputs.first?.name }
        candidates += vectors.thinned(to: 12).map { FeatureSpecification(layer: $0) }
      }
      for (name, channels) in maps.thinned(to: 12) {
        candidates.append(FeatureSpecification(layer: name, pooling: .average))
        guard channels <= Self.mostFeatures / 9 else { continue }
        candidates.append(
          FeatureSpecification(layer: name, pooling: .averageGrid(rows: 3, columns: 3)))
        candidates.append(
          FeatureSpecification(layer: name, pooling: .maximumGrid(rows: 3, columns: 3)))
      }
      // The error names what there is.
      if candidates.isEmpty { _ = try layers.shape(of: outputs.first?.name ?? "") }
      return candidates
    }
  }

  private static let mostFeatures = 8192
}

extension Array {
  /// At most `count` elements, evenly spread, the last one always.
  fileprivate func thinned(to count: Int) -> [Element] {
    guard self.count > count else { return self }
    return (1...count).map { self[$0 * self.count / count - 1] }
  }
}
