import GraftGraph
import GraftTensor

/// The features of a file that is written: its inputs, outputs, and what it trains with.
struct CoreMLFeatures {
  var inputs: [CoreMLFeature] = []
  var outputs: [CoreMLFeature] = []
  var trainingInputs: [CoreMLFeature] = []
  var predictedFeatureName = ""
  var predictedProbabilitiesName = ""

  init() {}

  /// - Parameter isExact: whether arrays have all their axes, or none for the batch.
  init(_ draft: CoreMLDraft, _ classifier: ClassifierOutput?, isExact: Bool) {
    for input in draft.inputs {
      let type = draft.types[input.name] ?? TensorType(.float32, [])
      if let channels = input.pictureChannels {
        let image = CoreMLImage(
          width: type.shape[3], height: type.shape[2],
          colorSpace: channels == 1 ? .grayscale : .rgb, otherSizes: [], range: [])
        inputs.append(Self.feature(input.name, .image(image)))
      } else {
        inputs.append(Self.feature(input.name, Self.array(type, isExact)))
      }
    }
    if let classifier {
      let isText: Bool
      if case .strings = classifier.labels { isText = true } else { isText = false }
      outputs.append(Self.feature(classifier.label, isText ? .string : .int64))
      outputs.append(
        Self.feature(classifier.probabilities, .dictionary(hasStringKeys: isText)))
      predictedFeatureName = classifier.label
      predictedProbabilitiesName = classifier.probabilities
    }
    for (name, value) in draft.outputs where name != classifier?.scores {
      let type = draft.types[value] ?? TensorType(.float32, [])
      outputs.append(Self.feature(name, Self.array(type, isExact)))
    }
  }

  static func feature(_ name: String, _ type: CoreMLFeatureType) -> CoreMLFeature {
    CoreMLFeature(name: name, documentation: "", isOptional: false, type: type, encoding: nil)
  }

  private static func array(_ type: TensorType, _ isExact: Bool) -> CoreMLFeatureType {
    let shape = isExact ? type.shape.dimensions : Array(type.shape.dimensions.dropFirst())
    return .array(
      CoreMLArray(
        shape: shape, element: type.elementType == .int32 ? .int32 : .float32, otherShapes: [],
        ranges: []))
  }

  mutating func rename(_ input: (String) -> String, output: (String) -> String) {
    for index in inputs.indices { inputs[index].name = input(inputs[index].name) }
    for index in outputs.indices { outputs[index].name = output(outputs[index].name) }
  }

  /// The description message.
  func encoded(of model: Model) -> ProtobufWriter {
    ProtobufWriter { message in
      for feature in inputs { message.message(1) { $0.feature(feature) } }
      for feature in outputs { message.message(10) { $0.feature(feature) } }
      message.stringIfAny(11, predictedFeatureName)
      message.stringIfAny(12, predictedProbabilitiesName)
      for feature in trainingInputs { message.message(50) { $0.feature(feature) } }
      message.message(100) { $0.metadata(of: model) }
    }
  }
}

extension ProtobufWriter {
  /// The fields of what a file says about the model as a whole.
  fileprivate mutating func metadata(of model: Model) {
    stringIfAny(1, model.documentation)
    stringIfAny(
      2, model.metadata["version"] ?? (model.modelVersion > 0 ? "\(model.modelVersion)" : ""))
    stringIfAny(3, model.metadata["author"] ?? model.producerName)
    stringIfAny(4, model.metadata["license"] ?? "")
    let known: Set = ["version", "author", "license", "labels", CoreMLReader.metadataKey]
    for (key, value) in model.metadata where !known.contains(key) {
      message(100) {
        $0.string(1, key)
        $0.string(2, value)
      }
    }
  }

  /// The fields of a feature.
  fileprivate mutating func feature(_ feature: CoreMLFeature) {
    string(1, feature.name)
    stringIfAny(2, feature.documentation)
    message(3) {
      $0.featureType(feature.type)
      $0.bool(1000, feature.isOptional)
    }
  }

  private mutating func featureType(_ type: CoreMLFeatureType) {
    switch type {
    case .int64: empty(1)
    case .double: empty(2)
    case .string: empty(3)
    case .image(let image): message(4) { $0.image(image) }
    case .array(let array): message(5) { $0.array(array) }
    case .dictionary(let hasStringKeys): message(6) { $0.empty(hasStringKeys ? 2 : 1) }
    case .sequence(let hasStrings): message(7) { $0.empty(hasStrings ? 3 : 1) }
    case .unknown: break
    }
  }

  private mutating func image(_ image: CoreMLImage) {
    let spaces: [CoreMLImage.ColorSpace: Int] = [
      .grayscale: 10, .rgb: 20, .bgr: 30, .grayscaleHalf: 40,
    ]
    int(1, image.width)
    int(2, image.height)
    int(3, spaces[image.colorSpace] ?? 20)
  }

  private mutating func array(_ array: CoreMLArray) {
    let elements: [CoreMLArray.Element: Int] = [
      .float16: 65_552, .float32: 65_568, .double: 65_600, .int32: 131_104, .int8: 131_080,
    ]
    ints(1, array.shape)
    int(2, elements[array.element] ?? 65_568)
  }
}
