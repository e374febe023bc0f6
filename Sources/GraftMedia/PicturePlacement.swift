/// Where the pixels of a picture lie in a model's input.
public struct PicturePlacement: Sendable, Equatable {
  /// The sides of the picture scaled to the input, in the input's pixels.
  public let width: Int
  public let height: Int
  /// Where its upper left corner lies in the input: above 0 with bars around it, below 0 where it is
  /// cut.
  public let left: Int
  public let top: Int

  /// What part of the picture is used: fractions of its width and height, 1 unless it is cut.
  func shown(inWidth inputWidth: Int, height inputHeight: Int) -> (width: Double, height: Double) {
    (
      min(1, Double(inputWidth) / Double(width)), min(1, Double(inputHeight) / Double(height))
    )
  }
}

extension PicturePreprocessing {
  /// Where a picture of these sides lies in the input.
  ///
  /// - Throws: `invalidArgument` when a number makes no sense.
  public func placement(ofWidth pictureWidth: Int, height pictureHeight: Int) throws
    -> PicturePlacement
  {
    try check()
    _ = try Picture.byteCount(pictureWidth, pictureHeight)
    let ratioX = Double(width) / Double(pictureWidth)
    let ratioY = Double(height) / Double(pictureHeight)
    switch fit {
    case .stretch: return PicturePlacement(width: width, height: height, left: 0, top: 0)
    case .letterbox:
      let scale = min(ratioX, ratioY)
      func side(_ old: Int, _ most: Int) -> Int {
        min(most, max(1, Int((Double(old) * scale).rounded())))
      }
      let (inner, innerHeight) = (side(pictureWidth, width), side(pictureHeight, height))
      return PicturePlacement(
        width: inner, height: innerHeight, left: (width - inner) / 2,
        top: (height - innerHeight) / 2)
    case .centerCrop(let fraction):
      func side(_ wanted: Int) -> Int { Int((Double(wanted) / fraction).rounded()) }
      let isWide = ratioX < ratioY
      // The side that fits exactly, and the other one in proportion, rounded down.
      let newWidth =
        isWide ? max(width, pictureWidth * side(height) / pictureHeight) : side(width)
      let newHeight =
        isWide ? side(height) : max(height, pictureHeight * side(width) / pictureWidth)
      return PicturePlacement(
        width: newWidth, height: newHeight, left: -Self.half(newWidth - width),
        top: -Self.half(newHeight - height))
    }
  }

  /// Half, odd numbers to the even neighbour, as in torchvision's `CenterCrop`.
  private static func half(_ number: Int) -> Int {
    Int((Double(number) / 2).rounded(.toNearestOrEven))
  }

  /// A place in a picture from one in the input.
  ///
  /// - Parameters:
  ///   - x: 0 at the input's left side, 1 at its right side.
  ///   - y: 0 at the input's upper side, 1 at its lower side.
  ///   - picture: the sides of the picture.
  /// - Returns: the place in pixels of the picture; outside of it where the input shows bars.
  package func pictureLocation(
    x: Double, y: Double, in placement: PicturePlacement, of picture: (width: Int, height: Int)
  ) -> PicturePoint {
    PicturePoint(
      x: (x * Double(width) - Double(placement.left)) * Double(picture.width)
        / Double(placement.width),
      y: (y * Double(height) - Double(placement.top)) * Double(picture.height)
        / Double(placement.height))
  }
}
