import GraftGraph

public struct FeatureQuantization: Sendable, Hashable {
  public var scale: Float
  public var zeroPoint: Int
}

public struct FeatureNormalization: Sendable, Hashable {
  public var mean: [Float]
  public var deviation: [Float]
}

extension Feature {
  var quantization: FeatureQuantization? { nil }
  var normalization: FeatureNormalization? { nil }
}
