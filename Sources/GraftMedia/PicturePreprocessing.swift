import GraftDiagnostics
import GraftTensor

/// How a picture of any size becomes a model's input.
///
/// Each value is (8-bit value * scale - mean) / deviation, in float32.
public struct PicturePreprocessing: Sendable, Equatable, Codable {
  /// How a picture of other proportions is fitted.
  public enum Fit: Sendable, Equatable, Codable {
    /// Both sides are scaled on their own.
    case stretch
    /// The middle is cut out. With a fraction below 1 the picture is first scaled so that its
    /// shorter side is the wanted one divided by the fraction, and the rest is cut away: 0.875 for
    /// the usual 256 and 224.
    case centerCrop(fraction: Double = 1)
    /// The whole picture is in the middle, with bars of one colour, red, green and blue.
    case letterbox(red: UInt8 = 0, green: UInt8 = 0, blue: UInt8 = 0)
  }

  public enum ColorOrder: String, Sendable, Codable, CaseIterable { case rgb, bgr }

  public enum Layout: String, Sendable, Codable, CaseIterable {
    /// [1, 3, height, width]
    case channelsFirst
    /// [1, height, width, 3]
    case channelsLast
  }

  public var width: Int
  public var height: Int
  public var fit: Fit
  public var filter = PictureFilter.bilinear
  public var colorOrder = ColorOrder.rgb
  public var layout = Layout.channelsFirst
  /// What the 8-bit values are multiplied by.
  public var scale: Float = 1 / 255
  /// In the model's order of colours.
  public var mean: [Float] = [0, 0, 0]
  /// In the model's order of colours.
  public var deviation: [Float] = [1, 1, 1]

  public init(width: Int, height: Int, fit: Fit = .centerCrop()) {
    self.width = width
    self.height = height
    self.fit = fit
  }

  /// What networks trained on ImageNet with PyTorch expect: mean 0.485, 0.456, 0.406 and deviation
  /// 0.229, 0.224, 0.225, the middle 0.875 of the shorter side.
  public static func imageNet(size: Int = 224) -> PicturePreprocessing {
    var preprocessing = PicturePreprocessing(
      width: size, height: size, fit: .centerCrop(fraction: 0.875))
    preprocessing.mean = [0.485, 0.456, 0.406]
    preprocessing.deviation = [0.229, 0.224, 0.225]
    return preprocessing
  }

  /// - Throws: `invalidArgument` when a number makes no sense.
  public func check() throws {
    _ = try Picture.byteCount(width, height)
    func require(_ holds: Bool, _ what: String, _ fix: String) throws {
      guard holds else { throw GraftError(.invalidArgument, what, fix: fix) }
    }
    try require(
      max(width, height) <= 1 << 16, "the input has \(width) x \(height) pixels",
      "Choose sides of 65536 at most")
    try require(
      mean.count == 3 && mean.allSatisfy(\.isFinite), "the mean is \(mean)",
      "Give three finite numbers")
    try require(
      deviation.count == 3 && deviation.allSatisfy { $0.isFinite && $0 != 0 },
      "the deviation is \(deviation)", "Give three finite numbers other than 0")
    try require(scale.isFinite, "the scale is \(scale)", "Give a finite number")
    if case .centerCrop(let fraction) = fit {
      try require(
        fraction >= 0.01 && fraction <= 1, "the fraction of the crop is \(fraction)",
        "Choose 0.01 to 1")
    }
  }

  /// The picture in the wanted size.
  ///
  /// - Throws: `invalidArgument` when a number makes no sense.
  public func fitted(_ picture: Picture) throws -> Picture {
    let placement = try placement(ofWidth: picture.width, height: picture.height)
    switch fit {
    case .stretch:
      return try picture.resized(toWidth: width, height: height, filter: filter)
    case .letterbox(let red, let green, let blue):
      let inner = try picture.resized(
        toWidth: placement.width, height: placement.height, filter: filter)
      return try inner.padded(toWidth: width, height: height, color: [red, green, blue])
    case .centerCrop:
      let (x, y) = (-placement.left, -placement.top)
      return try picture.resized(
        toWidth: placement.width, height: placement.height, filter: filter, columns: x..<x + width,
        rows: y..<y + height)
    }
  }

  /// The model's input: [1, 3, height, width] or [1, height, width, 3], float32.
  ///
  /// - Throws: as `fitted`.
  public func tensor(_ picture: Picture) throws -> Tensor {
    let picture = try fitted(picture)
    let isFirst = layout == .channelsFirst
    let tensor = try Tensor(
      uninitialized: isFirst ? [1, 3, height, width] : [1, height, width, 3], .float32)
    let values = try tensor.mutablePointer(as: Float.self)
    let count = width * height
    picture.pixels.withUnsafeBufferPointer { pixels in
      for channel in 0..<3 {
        let from = colorOrder == .rgb ? channel : 2 - channel
        let (mean, deviation) = (mean[channel], deviation[channel])
        for place in 0..<count {
          let value = (Float(pixels[3 * place + from]) * scale - mean) / deviation
          values[isFirst ? channel * count + place : 3 * place + channel] = value
        }
      }
    }
    return tensor
  }
}
