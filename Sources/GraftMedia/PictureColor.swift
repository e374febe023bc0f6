import Foundation

/// A colour: red, green and blue, 8 bits each.
public struct PictureColor: Sendable, Hashable, Codable {
  public var red: UInt8
  public var green: UInt8
  public var blue: UInt8

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  public static let black = PictureColor(red: 0, green: 0, blue: 0)
  public static let white = PictureColor(red: 255, green: 255, blue: 255)

  /// The colour of a class, always the same.
  ///
  /// The hue goes round the circle by the golden ratio, hue = fraction(index * 0.618034), so that
  /// classes that follow each other are far apart; every seventh step of the index lowers brightness
  /// and saturation, in three and two levels: brightness 1, 0.8 or 0.62, saturation 0.85 or 0.55.
  ///
  /// - Parameter index: the class; negative ones have the colours of their amounts.
  public static func ofClass(_ index: Int) -> PictureColor {
    let number = Double(index.magnitude % 1_000_000)
    let step = Int(number) / 7
    let hue = (number * 0.6180339887498949).truncatingRemainder(dividingBy: 1)
    return PictureColor(
      hue: hue, saturation: [0.85, 0.55][step / 3 % 2], brightness: [1, 0.8, 0.62][step % 3])
  }

  /// - Parameters:
  ///   - hue: 0 to 1 round the circle, 0 is red.
  ///   - saturation: 0 to 1.
  ///   - brightness: 0 to 1, of the strongest of the three.
  init(hue: Double, saturation: Double, brightness: Double) {
    func channel(_ offset: Double) -> UInt8 {
      let place = (offset + hue * 6).truncatingRemainder(dividingBy: 6)
      let share = max(0, min(place, 4 - place, 1))
      return UInt8(min(max(255 * brightness * (1 - saturation * share), 0), 255).rounded())
    }
    self.init(red: channel(5), green: channel(3), blue: channel(1))
  }

  /// Black or white, whichever is easier to read on this colour.
  public var readable: PictureColor {
    let luma = 0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
    return luma > 140 ? .black : .white
  }
}
