/// What a Core ML file says about itself beyond the graph: features, class labels, how it updates.
public struct CoreMLDescription: Sendable, Hashable, Codable {
  /// The version of the format that the file follows.
  public var specificationVersion: Int
  /// The kind of model by the format's name, such as `neuralNetworkClassifier`.
  public var kind: String
  /// The kinds of a pipeline's models, in the order they run; empty for other models.
  public var stages: [String] = []
  public var inputs: [CoreMLFeature]
  public var outputs: [CoreMLFeature]
  /// What an update needs for each example; empty where the model is not updatable.
  public var trainingInputs: [CoreMLFeature]
  /// The output that holds the predicted label or value; empty when there is none.
  public var predictedFeatureName: String
  /// The output that holds the probability of every class; empty when there is none.
  public var predictedProbabilitiesName: String
  /// The classes in the order of the probabilities; nil for other models than classifiers.
  public var classLabels: CoreMLLabels?
  /// Whether the file says that the model may be updated.
  public var isUpdatable: Bool
  /// How the model updates; nil for a model without such a section.
  public var update: UpdateSection?
  /// The index of a nearest-neighbour classifier; nil for other models.
  public var neighbors: NeighborSection?
  /// The rules of Core ML for updatable models that this one breaks.
  public var brokenRules: [BrokenUpdateRule] = []
}

/// Class labels or categories: strings or whole numbers.
public enum CoreMLLabels: Sendable, Hashable, Codable {
  case strings([String])
  case integers([Int])

  public var count: Int {
    switch self {
    case .strings(let labels): labels.count
    case .integers(let labels): labels.count
    }
  }

  /// The labels as text.
  public var names: [String] {
    switch self {
    case .strings(let labels): labels
    case .integers(let labels): labels.map(String.init)
    }
  }
}

/// An input or output as the file declares it.
public struct CoreMLFeature: Sendable, Hashable, Codable {
  public var name: String
  public var documentation: String
  public var isOptional: Bool
  public var type: CoreMLFeatureType
  /// How values that are no numbers stand in the graph; nil for numbers.
  public var encoding: CoreMLEncoding?
}

/// The declared type of a feature.
public enum CoreMLFeatureType: Sendable, Hashable, Codable {
  case int64
  case double
  case string
  case image(CoreMLImage)
  case array(CoreMLArray)
  /// From strings, or from whole numbers, to numbers.
  case dictionary(hasStringKeys: Bool)
  /// Of strings, or of whole numbers.
  case sequence(hasStrings: Bool)
  /// Nothing is declared, or a type that Graft does not know.
  case unknown
}

/// A picture: its size, other sizes it may have, and the order of its colours.
public struct CoreMLImage: Sendable, Hashable, Codable {
  public enum ColorSpace: String, Sendable, Codable { case grayscale, rgb, bgr, grayscaleHalf }

  public var width: Int
  public var height: Int
  public var colorSpace: ColorSpace
  /// Widths and heights that are allowed as well.
  public var otherSizes: [[Int]]
  /// Least and largest width, then height; nil in the second place for no upper bound.
  public var range: [CoreMLSizeRange]
}

/// An array of numbers: its shape, other shapes it may have, and the type of its elements.
public struct CoreMLArray: Sendable, Hashable, Codable {
  public enum Element: String, Sendable, Codable { case float16, float32, double, int32, int8 }

  /// Empty when none is declared.
  public var shape: [Int]
  public var element: Element
  public var otherShapes: [[Int]]
  /// One for each axis; empty when the shape is fixed.
  public var ranges: [CoreMLSizeRange]
}

/// The sizes that an axis may have.
public struct CoreMLSizeRange: Sendable, Hashable, Codable {
  public var lowest: Int
  /// Nil for no upper bound.
  public var highest: Int?
}

/// How a value that is no number stands in a graph, which has numbers only.
public enum CoreMLEncoding: Sendable, Hashable, Codable {
  /// The value's place among these, an int64; -1 for another one, which is an error unless
  /// `takesOthers`.
  case index(among: CoreMLLabels, takesOthers: Bool)
  /// A dictionary as the vector of the values of these keys, 0 where a key is absent.
  case vector(keys: CoreMLLabels)
}

/// A nearest-neighbour classifier: what its index holds and how neighbours are weighed.
public struct NeighborSection: Sendable, Hashable, Codable {
  public enum Weighting: String, Sendable, Codable { case uniform, inverseDistance }
  public enum Index: Sendable, Hashable, Codable {
    case linear
    case kdTree(leafSize: Int)
  }

  /// How many numbers a sample has.
  public var dimension: Int
  /// The label of every sample in the index.
  public var sampleLabels: CoreMLLabels
  /// The label that an empty index predicts.
  public var defaultLabel: CoreMLLabels
  /// How many neighbours are asked, with the allowed numbers.
  public var neighborCount: UpdateParameter
  public var weighting: Weighting
  public var index: Index
  /// The initializer that holds the samples, [samples, dimension].
  public var samples: String
  /// The value that is compared with the samples, [batch, dimension].
  public var features = ""
}
