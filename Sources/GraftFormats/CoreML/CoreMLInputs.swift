import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How a model's inputs stand in the graph, which depends on the first model that reads them.
struct CoreMLInputs {
  private let leaves: [CoreMLStage]

  init(_ stage: CoreMLStage) throws { leaves = try stage.leaves() }

  /// The graph's input for a feature, and how values of it that are no numbers are written.
  func feature(_ feature: CoreMLFeature) throws -> (Feature, CoreMLEncoding?) {
    let reader = try leaves.first { stage in
      try stage.description.inputs.contains { $0.name == feature.name }
        || stage.inputColumns().contains(feature.name)
    }
    var encoding: CoreMLEncoding?
    let type: FeatureType
    switch feature.type {
    case .image(let image): type = Self.type(of: image)
    case .array(let array): type = try Self.type(of: array, for: reader)
    case .double: type = .tensor(.float64, shape: [.named("batch"), .fixed(1)])
    case .int64:
      encoding = try reader?.categories().map { labels, takesOthers in
        CoreMLEncoding.index(among: labels, takesOthers: takesOthers)
      }
      type =
        encoding == nil
        ? .tensor(.int64, shape: [.named("batch"), .fixed(1)])
        : .tensor(.int64, shape: [.named("batch")])
    case .string:
      encoding = try reader?.categories().map { labels, takesOthers in
        CoreMLEncoding.index(among: labels, takesOthers: takesOthers)
      }
      type = .tensor(.int64, shape: [.named("batch")])
    case .dictionary:
      let keys = try reader?.dictionaryKeys()
      encoding = keys.map { .vector(keys: $0) }
      type = .tensor(
        .float64, shape: [.named("batch"), keys.map { .fixed($0.count) } ?? .unknown])
    case .sequence, .unknown: type = .unknown
    }
    return (
      Feature(name: feature.name, type: type, documentation: feature.documentation), encoding
    )
  }

  private static func type(of image: CoreMLImage) -> FeatureType {
    let isOpen = !image.otherSizes.isEmpty || !image.range.isEmpty
    let channels = [.rgb, .bgr].contains(image.colorSpace) ? 3 : 1
    return .tensor(
      image.colorSpace == .grayscaleHalf ? .float32 : .uint8,
      shape: [
        .named("batch"), isOpen ? .unknown : .fixed(image.height),
        isOpen ? .unknown : .fixed(image.width), .fixed(channels),
      ])
  }

  private static func type(of array: CoreMLArray, for reader: CoreMLStage?) throws -> FeatureType {
    let sizes = array.shape.enumerated().map { axis, size -> FeatureDimension in
      array.isFlexible(axis) ? .unknown : .fixed(size)
    }
    if reader?.kind == "mlProgram" {
      return .tensor(array.element == .int32 ? .int32 : .float32, shape: sizes)
    }
    guard let reader, reader.kind.hasPrefix("neuralNetwork") else {
      let isNeighbors = reader?.kind == "kNearestNeighborsClassifier"
      let type: ElementType =
        isNeighbors
        ? .float32 : array.element == .float32 || array.element == .float16 ? .float32 : .float64
      // A classical model takes the numbers as one vector.
      let count =
        array.shape.isEmpty
        ? nil : array.shape.reduce(1) { $0.multipliedReportingOverflow(by: $1).partialValue }
      return .tensor(type, shape: [.named("batch"), count.map { .fixed($0) } ?? .unknown])
    }
    guard try reader.parameters().int(5) == 0 else { return .tensor(.float32, shape: sizes) }
    let hasSteps = try reader.hasSequences()
    let front: [FeatureDimension] =
      hasSteps ? [.named("sequence"), .named("batch")] : [.named("batch")]
    switch sizes.count {
    case 1, 3: return .tensor(.float32, shape: front + sizes)
    case 5: return .tensor(.float32, shape: [.named("sequence"), .named("batch")] + sizes[2...])
    default: return .tensor(.float32, shape: nil)
    }
  }
}

extension CoreMLStage {
  /// The columns that a feature vectorizer puts together.
  fileprivate func inputColumns() throws -> [String] {
    kind == "featureVectorizer" ? try parameters().messages(1).map { try $0.string(1) } : []
  }

  /// The categories of a one-hot encoder, and whether it takes others.
  fileprivate func categories() throws -> (CoreMLLabels, Bool)? {
    guard kind == "oneHotEncoder" else { return nil }
    let parameters = try parameters()
    return try CoreMLLabels(parameters, strings: 1, integers: 2).map {
      ($0, try parameters.int(11) == 1)
    }
  }

  /// The keys of a dictionary vectorizer, in the order of the vector.
  fileprivate func dictionaryKeys() throws -> CoreMLLabels? {
    kind == "dictVectorizer" ? try CoreMLLabels(try parameters(), strings: 1, integers: 2) : nil
  }

  /// Whether a network has layers that go through sequences.
  fileprivate func hasSequences() throws -> Bool {
    try parameters().messages(1).contains { message in
      [400, 410, 420, 430].contains { message.has($0) }
    }
  }
}
