import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The declared shape of a model's input for pictures.
struct PictureShape {
  let feature: Feature
  let elementType: ElementType
  let isChannelsLast: Bool
  let channels: Int
  /// Nil where the model leaves them open.
  let width: Int?
  let height: Int?

  /// - Throws: `badData` when the model takes no pictures.
  init(_ model: Model) throws {
    guard let feature = model.inputs.first(where: { $0.dimensions.count == 4 }) else {
      let shapes = model.inputs.map { "'\($0.name)' of \($0.type)" }.joined(separator: ", ")
      throw GraftError(
        .badData, "the model takes no pictures: its inputs are \(shapes)",
        fix: "Choose a model with an input such as [1, 224, 224, 3]")
    }
    try self.init(feature)
  }

  private init(_ feature: Feature) throws {
    let dimensions = feature.dimensions
    guard case .tensor(let elementType, _) = feature.type,
      [.float32, .uint8, .int8].contains(elementType)
    else {
      throw GraftError(
        .unsupported, "pictures cannot become the input's type, \(feature.type)",
        at: ["input '\(feature.name)'"])
    }
    func isColor(_ size: Int?) -> Bool { size == 3 || size == 1 }
    guard isColor(dimensions[3]) || isColor(dimensions[1]), dimensions[0] ?? 1 == 1 else {
      throw GraftError(
        .badData, "the input of \(feature.type) is none for a picture of 1 or 3 channels",
        at: ["input '\(feature.name)'"])
    }
    // A single row or column is less likely than a single channel at the end.
    isChannelsLast = dimensions[3] == 3 || (dimensions[3] == 1 && dimensions[1] != 3)
    channels = (isChannelsLast ? dimensions[3] : dimensions[1]) ?? 3
    height = isChannelsLast ? dimensions[1] : dimensions[2]
    width = isChannelsLast ? dimensions[2] : dimensions[3]
    self.feature = feature
    self.elementType = elementType
  }

  /// - Throws: `invalidArgument` when pictures of these sides do not fit.
  func check(width newWidth: Int, height newHeight: Int) throws {
    guard width ?? newWidth == newWidth, height ?? newHeight == newHeight else {
      throw GraftError(
        .invalidArgument,
        "pictures of \(newWidth) x \(newHeight) do not fit the input of \(feature.type)",
        at: ["input '\(feature.name)'"], fix: "Leave the size to the model")
    }
  }
}

extension Feature {
  /// The dimensions with nil where they are open; empty for anything but a tensor of known rank.
  var dimensions: [Int?] {
    guard case .tensor(_, let shape?) = type else { return [] }
    return shape.map { if case .fixed(let size) = $0 { size } else { nil } }
  }
}
