/// A place in a picture, in pixels from its upper left corner.
public struct PicturePoint: Sendable, Hashable, Codable {
  public var x: Double
  public var y: Double

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A rectangle in a picture, in pixels from its upper left corner.
public struct PictureRectangle: Sendable, Hashable, Codable {
  public var x: Double
  public var y: Double
  public var width: Double
  public var height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The part of it that lies inside a picture; empty when none does.
  public func clipped(toWidth pictureWidth: Int, height pictureHeight: Int) -> PictureRectangle {
    func clip(_ start: Double, _ length: Double, _ most: Int) -> (Double, Double) {
      let first = min(max(start, 0), Double(most))
      let last = min(max(start + length, 0), Double(most))
      return (first, max(0, last - first))
    }
    let (x, width) = clip(x, width, pictureWidth)
    let (y, height) = clip(y, height, pictureHeight)
    return PictureRectangle(x: x, y: y, width: width, height: height)
  }

  /// What both share, in parts of what both cover; 0 when one is empty.
  public func overlap(with other: PictureRectangle) -> Double {
    let across = min(x + width, other.x + other.width) - max(x, other.x)
    let down = min(y + height, other.y + other.height) - max(y, other.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (width * height + other.width * other.height - shared)
  }
}
