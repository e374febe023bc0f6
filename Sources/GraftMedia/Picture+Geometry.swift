import Foundation
import GraftDiagnostics

extension Picture {
  /// A rectangle of the picture.
  ///
  /// - Throws: `invalidArgument` when it is empty or reaches outside.
  public func cropped(x: Int, y: Int, width newWidth: Int, height newHeight: Int) throws -> Picture
  {
    guard x >= 0, y >= 0, newWidth > 0, newHeight > 0, newWidth <= width - x,
      newHeight <= height - y
    else {
      throw GraftError(
        .invalidArgument,
        "\(newWidth) x \(newHeight) pixels from (\(x), \(y)) are not inside the picture of "
          + "\(width) x \(height)", at: [name])
    }
    return try making(newWidth, newHeight) { pixels, source in
      for row in 0..<newHeight {
        let from = 3 * ((y + row) * width + x)
        for offset in 0..<3 * newWidth {
          pixels[3 * row * newWidth + offset] = source[from + offset]
        }
      }
    }
  }

  /// The picture in the middle of a larger one.
  ///
  /// - Parameter color: red, green and blue around it.
  func padded(toWidth newWidth: Int, height newHeight: Int, color: [UInt8]) throws -> Picture {
    let (left, top) = ((newWidth - width) / 2, (newHeight - height) / 2)
    return try making(newWidth, newHeight) { pixels, source in
      for place in 0..<newWidth * newHeight {
        for channel in 0..<3 { pixels[3 * place + channel] = color[channel] }
      }
      for row in 0..<height {
        let to = 3 * ((top + row) * newWidth + left)
        for offset in 0..<3 * width { pixels[to + offset] = source[3 * row * width + offset] }
      }
    }
  }

  /// The picture turned and enlarged about its middle, in the same size; the pixels of the border
  /// are repeated outside.
  ///
  /// - Parameters:
  ///   - degrees: counterclockwise.
  ///   - zoom: above 1 things become larger.
  func turned(degrees: Double, zoom: Double) throws -> Picture {
    let angle = degrees * .pi / 180
    let (cosine, sine) = (cos(angle) / zoom, sin(angle) / zoom)
    let (middleX, middleY) = (Double(width) / 2, Double(height) / 2)
    return try making(width, height) { pixels, source in
      for y in 0..<height {
        for x in 0..<width {
          let (dx, dy) = (Double(x) + 0.5 - middleX, Double(y) + 0.5 - middleY)
          let place = 3 * (y * width + x)
          mix(
            source, x: middleX + cosine * dx - sine * dy - 0.5,
            y: middleY + sine * dx + cosine * dy - 0.5, into: pixels, at: place)
        }
      }
    }
  }

  /// The value between four pixels; coordinates count from the middle of the first pixel.
  private func mix(
    _ source: UnsafeBufferPointer<UInt8>, x: Double, y: Double,
    into pixels: UnsafeMutableBufferPointer<UInt8>, at place: Int
  ) {
    let (x, y) = (min(max(x, 0), Double(width - 1)), min(max(y, 0), Double(height - 1)))
    let (left, top) = (Int(x), Int(y))
    let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
    let (shareX, shareY) = (x - Double(left), y - Double(top))
    for channel in 0..<3 {
      func value(_ x: Int, _ y: Int) -> Double { Double(source[3 * (y * width + x) + channel]) }
      let upper = value(left, top) + shareX * (value(right, top) - value(left, top))
      let lower = value(left, bottom) + shareX * (value(right, bottom) - value(left, bottom))
      pixels[place + channel] = UInt8(upper + shareY * (lower - upper) + 0.5)
    }
  }
}
