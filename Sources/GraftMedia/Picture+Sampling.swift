import Foundation

extension Picture {
  /// A part of the picture in another size, every new pixel between the four old ones nearest to its
  /// middle.
  ///
  /// The middle of new pixel i lies at (i + 0.5) * old / new - 0.5, moved to the border where it is
  /// outside. Computed in float64 and rounded to the nearest, halves up: TensorFlow's bilinear
  /// resizing with half-pixel centres.
  func sampled(toWidth newWidth: Int, height newHeight: Int, columns: Range<Int>, rows: Range<Int>)
    throws -> Picture
  {
    let horizontal = SamplingPlaces(from: width, to: newWidth, columns)
    let vertical = SamplingPlaces(from: height, to: newHeight, rows)
    return try making(columns.count, rows.count) { pixels, source in
      for row in 0..<rows.count {
        let (upper, lower) = (
          3 * width * vertical.first[row], 3 * width * vertical.second[row]
        )
        let down = vertical.fraction[row]
        for column in 0..<columns.count {
          let (left, right) = (3 * horizontal.first[column], 3 * horizontal.second[column])
          let across = horizontal.fraction[column]
          let to = 3 * (row * columns.count + column)
          for channel in 0..<3 {
            func value(_ place: Int) -> Double { Double(source[place + channel]) }
            let top = value(upper + left) * (1 - across) + value(upper + right) * across
            let bottom = value(lower + left) * (1 - across) + value(lower + right) * across
            pixels[to + channel] = UInt8(top * (1 - down) + bottom * down + 0.5)
          }
        }
      }
    }
  }
}

/// For every new pixel along an axis the two old ones that it lies between.
private struct SamplingPlaces {
  private(set) var first: [Int] = []
  private(set) var second: [Int] = []
  /// How much of the second is taken, 0 to 1.
  private(set) var fraction: [Double] = []

  init(from size: Int, to newSize: Int, _ range: Range<Int>) {
    for index in range {
      let middle = (Double(index) + 0.5) * Double(size) / Double(newSize) - 0.5
      let place = min(max(middle, 0), Double(size - 1))
      first.append(Int(place))
      second.append(min(Int(place) + 1, size - 1))
      fraction.append(place - place.rounded(.down))
    }
  }
}
