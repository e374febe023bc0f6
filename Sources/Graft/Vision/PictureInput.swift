import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// The input of a model that takes pictures, and how they become it.
struct PictureInput: Sendable {
  let name: String
  let preprocessing: PicturePreprocessing
  private let elementType: ElementType
  /// 3, or 1 for grey.
  private let channels: Int
  /// For each channel the elements for 8-bit values, as bytes of the element type.
  private let elements: [[UInt8]]

  /// - Throws: `badData` when the model takes no pictures, `invalidArgument` when their size is open
  ///   and the options do not give it.
  init(_ model: Model, _ options: TaskOptions) throws {
    let shape = try PictureShape(model)
    let feature = shape.feature
    var preprocessing =
      try options.preprocessing ?? model.picturePreprocessing
      ?? Self.standard(shape, feature.normalization)
    if let fit = options.fit { preprocessing.fit = fit }
    preprocessing.layout = shape.isChannelsLast ? .channelsLast : .channelsFirst
    try preprocessing.check()
    try shape.check(width: preprocessing.width, height: preprocessing.height)
    name = feature.name
    elementType = shape.elementType
    channels = shape.channels
    elements = try (0..<shape.channels).map {
      try Self.elements(
        elementType: shape.elementType, scale: preprocessing.scale, mean: preprocessing.mean[$0],
        deviation: preprocessing.deviation[$0], feature.quantization)
    }
    self.preprocessing = preprocessing
  }

  /// What the task library does: both sides scaled on their own, (value - 127.5) / 127.5 where the
  /// model does not say anything else.
  private static func standard(_ shape: PictureShape, _ normalization: FeatureNormalization?) throws
    -> PicturePreprocessing
  {
    guard let width = shape.width, let height = shape.height else {
      throw GraftError(
        .invalidArgument, "the model leaves the size of its pictures open",
        at: ["input '\(shape.feature.name)'"], fix: "Give the preprocessing, with width and height")
    }
    var preprocessing = PicturePreprocessing(width: width, height: height, fit: .stretch)
    preprocessing.filter = .plainBilinear
    preprocessing.scale = 1
    let normalization = normalization ?? FeatureNormalization(mean: [127.5], deviation: [127.5])
    preprocessing.mean = normalization.forThree(normalization.mean)
    preprocessing.deviation = normalization.forThree(normalization.deviation)
    return preprocessing
  }

  /// The element for each 8-bit value. Unsigned bytes are taken as they are; signed ones are
  /// normalized values on the input's grid, or without a grid the bytes less 128.
  private static func elements(
    elementType: ElementType, scale: Float, mean: Float, deviation: Float,
    _ grid: FeatureQuantization?
  ) throws -> [UInt8] {
    func normalized(_ value: Int) -> Float { (Float(value) * scale - mean) / deviation }
    switch elementType {
    case .uint8: return (0..<256).map { UInt8($0) }
    case .int8:
      return (0..<256).map { value in
        let signed = grid.map { Double($0.quantized(normalized(value))) } ?? Double(value - 128)
        return UInt8(bitPattern: Int8(saturating: signed))
      }
    default:
      return (0..<256).flatMap { value in
        withUnsafeBytes(of: normalized(value).bitPattern.littleEndian) { Array($0) }
      }
    }
  }

  /// A picture as the model's input.
  struct Prepared {
    let tensor: Tensor
    let placement: PicturePlacement
    let width: Int
    let height: Int
  }

  func prepare(_ picture: Picture) throws -> Prepared {
    Prepared(
      tensor: try tensor(try preprocessing.fitted(picture)),
      placement: try preprocessing.placement(ofWidth: picture.width, height: picture.height),
      width: picture.width, height: picture.height)
  }

  /// A place in the picture from one in the input, 0 to 1 along its sides.
  func location(x: Double, y: Double, in prepared: Prepared) -> PicturePoint {
    preprocessing.pictureLocation(
      x: x, y: y, in: prepared.placement, of: (prepared.width, prepared.height))
  }

  private func tensor(_ picture: Picture) throws -> Tensor {
    let isFirst = preprocessing.layout == .channelsFirst
    let (width, height) = (picture.width, picture.height)
    let tensor = try Tensor(
      uninitialized: isFirst ? [1, channels, height, width] : [1, height, width, channels],
      elementType)
    let count = width * height
    let byteCount = elementType.bitWidth / 8
    let isSwapped = preprocessing.colorOrder == .bgr
    picture.pixels.withUnsafeBufferPointer { pixels in
      for channel in 0..<channels {
        let from = isSwapped ? 2 - channel : channel
        let table = elements[channel]
        for place in 0..<count {
          let value = channels == 1 ? Self.grey(pixels, 3 * place) : Int(pixels[3 * place + from])
          let to = isFirst ? channel * count + place : channels * place + channel
          for byte in 0..<byteCount {
            tensor.mutableBytes.storeBytes(
              of: table[value * byteCount + byte], toByteOffset: to * byteCount + byte,
              as: UInt8.self)
          }
        }
      }
    }
    return tensor
  }

  /// ITU-R 601 luma, as Pillow's conversion to `L`.
  private static func grey(_ pixels: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int {
    (19_595 * Int(pixels[place]) + 38_470 * Int(pixels[place + 1])
      + 7_471 * Int(pixels[place + 2]) + 32_768) >> 16
  }
}
