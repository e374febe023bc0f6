import GraftDiagnostics
import GraftTensor

/// Random changes of pictures while training; each is off until it is given a range.
///
/// They are done in the order of the properties, and every change draws its numbers whether it is on
/// or not: switching one on leaves the others as they were. The same generator gives the same bytes.
public struct PictureAugmentation: Sendable, Equatable, Codable {
  /// Half of the pictures are mirrored, left and right exchanged.
  public var horizontalFlip = false
  /// Half of the pictures are mirrored, top and bottom exchanged.
  public var verticalFlip = false
  /// The smallest part of each side that is kept by cutting out a piece anywhere, 0.05 to 1; both
  /// sides keep the same part.
  public var crop = 1.0
  /// Turned by up to so many degrees, 0 to 180, to either side; border pixels are repeated.
  public var rotation = 0.0
  /// Enlarged about the middle by a factor from this range, inside 0.1 to 10; below 1 border pixels
  /// are repeated.
  public var zoom = 1.0...1.0
  /// Light changes by up to so many stops, 0 to 4, to either side: a stop doubles or halves it.
  public var exposure = 0.0
  /// Colours become grey at 0, stay at 1 and are stronger above, inside 0 to 4.
  public var saturation = 1.0...1.0
  /// Colours turn by up to so many degrees of the colour circle, 0 to 180, to either side.
  public var hue = 0.0
  /// The largest standard deviation of a Gaussian blur in parts of the shorter side, 0 to 0.05.
  public var blur = 0.0
  /// The largest standard deviation of normal noise in parts of full scale, 0 to 0.5.
  public var noise = 0.0

  /// Nothing changes.
  public init() {}

  /// What suits photographs of most things: mirrored, cut to 0.8 at least, turned by 10 degrees,
  /// half a stop, saturation 0.8 to 1.2, a blur of 0.005 and noise of 0.02.
  public static let photographs: PictureAugmentation = {
    var augmentation = PictureAugmentation()
    augmentation.horizontalFlip = true
    augmentation.crop = 0.8
    augmentation.rotation = 10
    augmentation.exposure = 0.5
    augmentation.saturation = 0.8...1.2
    augmentation.blur = 0.005
    augmentation.noise = 0.02
    return augmentation
  }()

  /// - Throws: `invalidArgument` when a number is out of its range.
  public func check() throws {
    func require(_ value: Double, _ range: ClosedRange<Double>, _ name: String) throws {
      guard range.contains(value) else {
        throw GraftError(
          .invalidArgument, "the \(name) of the augmentation is \(value)",
          fix: "Choose \(range.lowerBound) to \(range.upperBound)")
      }
    }
    try require(crop, 0.05...1, "crop")
    try require(rotation, 0...180, "rotation")
    try require(zoom.lowerBound, 0.1...10, "zoom")
    try require(zoom.upperBound, 0.1...10, "zoom")
    try require(exposure, 0...4, "exposure")
    try require(saturation.lowerBound, 0...4, "saturation")
    try require(saturation.upperBound, 0...4, "saturation")
    try require(hue, 0...180, "hue")
    try require(blur, 0...0.05, "blur")
    try require(noise, 0...0.5, "noise")
  }

  /// A changed picture; its size changes only by `crop`.
  ///
  /// - Throws: `invalidArgument` when a number is out of its range.
  public func applied(to picture: Picture, using generator: inout SeededGenerator) throws
    -> Picture
  {
    try check()
    let draw = Draw(self, &generator)
    var result = picture
    if draw.isMirrored { result = try result.mirrored() }
    if draw.isUpsideDown { result = try result.mirroredVertically() }
    if draw.part < 1 {
      func side(_ old: Int) -> Int { max(1, Int((Double(old) * draw.part).rounded())) }
      let (width, height) = (side(result.width), side(result.height))
      result = try result.cropped(
        x: Int(draw.x * Double(result.width - width + 1)),
        y: Int(draw.y * Double(result.height - height + 1)), width: width, height: height)
    }
    if draw.degrees != 0 || draw.zoom != 1 {
      result = try result.turned(degrees: draw.degrees, zoom: draw.zoom)
    }
    if draw.stops != 0 { result = try result.exposed(stops: draw.stops) }
    if draw.saturation != 1 { result = try result.saturated(by: draw.saturation) }
    if draw.hue != 0 { result = try result.turningHue(degrees: draw.hue) }
    let deviation = draw.blur * Double(min(result.width, result.height))
    if deviation > 0 { result = try result.blurred(deviation: deviation) }
    if draw.noise > 0 { result = try result.noisy(deviation: draw.noise, using: &generator) }
    return result
  }

  /// The numbers that decide about one picture, in a fixed order.
  private struct Draw {
    let isMirrored: Bool
    let isUpsideDown: Bool
    let part: Double
    /// Where the piece lies, 0 to 1 of where it can.
    let x: Double
    let y: Double
    let degrees: Double
    let zoom: Double
    let stops: Double
    let saturation: Double
    let hue: Double
    let blur: Double
    let noise: Double

    init(_ augmentation: PictureAugmentation, _ generator: inout SeededGenerator) {
      func between(_ lowest: Double, _ highest: Double) -> Double {
        lowest + generator.uniform() * (highest - lowest)
      }
      let coins = (generator.uniform(), generator.uniform())
      isMirrored = augmentation.horizontalFlip && coins.0 < 0.5
      isUpsideDown = augmentation.verticalFlip && coins.1 < 0.5
      part = between(augmentation.crop, 1)
      x = generator.uniform()
      y = generator.uniform()
      degrees = between(-augmentation.rotation, augmentation.rotation)
      zoom = between(augmentation.zoom.lowerBound, augmentation.zoom.upperBound)
      stops = between(-augmentation.exposure, augmentation.exposure)
      saturation = between(augmentation.saturation.lowerBound, augmentation.saturation.upperBound)
      hue = between(-augmentation.hue, augmentation.hue)
      blur = between(0, augmentation.blur)
      noise = between(0, augmentation.noise)
    }
  }
}
