import Foundation

/// A picture that is drawn into. Whatever lies outside of it is left out.
public struct PictureCanvas: Sendable {
  public let width: Int
  public let height: Int
  private let name: String
  private(set) var pixels: [UInt8]

  public init(_ picture: Picture) {
    width = picture.width
    height = picture.height
    name = picture.name
    pixels = picture.pixels
  }

  /// The picture with all that was drawn.
  public var picture: Picture { Picture(width, height, checked: pixels, name) }

  /// How wide lines are that can be seen in a picture of this size: the shorter side / 200, at least
  /// 1 pixel.
  public var lineWidth: Int { max(1, Int((Double(min(width, height)) / 200).rounded())) }

  /// How often the pixels of letters are repeated in a picture of this size: the shorter side / 300,
  /// at least once.
  var textScale: Int { max(1, Int((Double(min(width, height)) / 300).rounded())) }

  // MARK: Pixels

  /// Whole pixels of a length that may be far outside or no number.
  func pixel(_ position: Double, upTo most: Int) -> Int {
    guard position.isFinite else { return position > 0 ? most : 0 }
    return Int(min(max(position.rounded(), -1), Double(most) + 1))
  }

  /// Fills the pixels of these columns and rows that lie inside.
  mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ color: PictureColor) {
    let columns = columns.clamped(to: 0..<width)
    for y in rows.clamped(to: 0..<height) {
      for x in columns { set(x, y, color) }
    }
  }

  /// The caller has checked that the pixel is inside.
  mutating func set(_ x: Int, _ y: Int, _ color: PictureColor) {
    let place = 3 * (y * width + x)
    pixels[place] = color.red
    pixels[place + 1] = color.green
    pixels[place + 2] = color.blue
  }

  /// Mixes a colour into a pixel that is inside.
  ///
  /// - Parameter share: of the colour, in 256ths.
  mutating func mix(_ x: Int, _ y: Int, _ color: PictureColor, _ share: Int) {
    let place = 3 * (y * width + x)
    for (offset, value) in [color.red, color.green, color.blue].enumerated() {
      let old = Int(pixels[place + offset])
      pixels[place + offset] = UInt8(clamping: old + ((Int(value) - old) * share) / 256)
    }
  }
}
