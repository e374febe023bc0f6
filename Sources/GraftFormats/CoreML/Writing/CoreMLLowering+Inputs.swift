import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  // MARK: Inputs

  /// Adds an input; pictures as bytes, or with a noted normalization, become image inputs.
  mutating func bind(_ feature: Feature) throws {
    let type = try type(feature.name)
    let channelsLast = type.elementType == .uint8
    let isPicture = type.shape.rank == 4 && (channelsLast || feature.normalization != nil)
    guard isPicture, let picture = PictureLayout(type.shape, prefersLast: channelsLast) else {
      guard type.elementType != .uint8 else {
        throw GraftError(
          .unsupported, "bytes that are no pictures [pictures, height, width, 1 or 3]")
      }
      draft.types[feature.name] = type
      draft.inputs.append(CoreMLDraft.Input(name: feature.name, value: feature.name))
      names[feature.name] = feature.name
      return
    }
    current = (feature.name, "input '\(feature.name)'")
    draft.types[feature.name] = TensorType(.float32, picture.shape)
    draft.inputs.append(
      CoreMLDraft.Input(
        name: feature.name, value: feature.name, pictureChannels: picture.channels))
    var value = feature.name
    if let normalization = feature.normalization {
      value = try normalized(value, picture, normalization)
    }
    if picture.isLast { value = transposed(value, [0, 2, 3, 1]) }
    names[feature.name] = value
  }

  private mutating func normalized(
    _ value: String, _ picture: PictureLayout, _ normalization: FeatureNormalization
  ) throws -> String {
    let type = TensorType(.float32, picture.shape)
    func spread(_ list: [Float]) -> [Float] {
      list.count == picture.channels
        ? list : [Float](repeating: list.first ?? 0, count: picture.channels)
    }
    let factors = spread(normalization.deviation).map { 1 / $0 }
    let bias = zip(spread(normalization.mean), factors).map { -$0 * $1 }
    let isOne = Set(factors).count == 1
    let factor =
      isOne ? try number(factors[0]) : try vector(factors, [1, picture.channels, 1, 1])
    let scaled = emit("mul", [("x", .value(value)), ("y", factor)], as: type)
    return emit(
      "add",
      [("x", .value(scaled)), ("y", try vector(bias, [1, picture.channels, 1, 1]))], as: type)
  }
}

/// How a picture's tensor has its axes.
private struct PictureLayout {
  let isLast: Bool
  let channels: Int
  /// [pictures, channels, height, width]
  let shape: Shape

  /// Nil when no axis can be that of the channels.
  init?(_ shape: Shape, prefersLast: Bool) {
    let last = [1, 3].contains(shape[3])
    let second = [1, 3].contains(shape[1])
    guard last || (second && !prefersLast) else { return nil }
    isLast = prefersLast || !second
    channels = isLast ? shape[3] : shape[1]
    self.shape = isLast ? [shape[0], shape[3], shape[1], shape[2]] : shape
  }
}
