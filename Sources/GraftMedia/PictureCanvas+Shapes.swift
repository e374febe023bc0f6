import Foundation
import GraftDiagnostics

extension PictureCanvas {
  /// Draws the border of a rectangle, inwards from its sides.
  ///
  /// - Parameter lineWidth: in pixels; `lineWidth` when nil.
  public mutating func outline(
    _ rectangle: PictureRectangle, _ color: PictureColor, lineWidth: Int? = nil
  ) {
    guard let (columns, rows) = edges(of: rectangle) else { return }
    let line = min(max(1, lineWidth ?? self.lineWidth), max(width, height))
    fill(columns, rows.lowerBound..<min(rows.lowerBound + line, rows.upperBound), color)
    fill(columns, max(rows.upperBound - line, rows.lowerBound)..<rows.upperBound, color)
    fill(columns.lowerBound..<min(columns.lowerBound + line, columns.upperBound), rows, color)
    fill(max(columns.upperBound - line, columns.lowerBound)..<columns.upperBound, rows, color)
  }

  /// The columns and rows of a rectangle, at least one of each; one pixel beyond the picture where it
  /// reaches further. Nil when no part of it is inside or it has no place.
  private func edges(of rectangle: PictureRectangle) -> (Range<Int>, Range<Int>)? {
    let (right, bottom) = (rectangle.x + rectangle.width, rectangle.y + rectangle.height)
    guard rectangle.x.isFinite, rectangle.y.isFinite, right.isFinite, bottom.isFinite,
      rectangle.width >= 0, rectangle.height >= 0, right >= 0, bottom >= 0,
      rectangle.x < Double(width), rectangle.y < Double(height)
    else { return nil }
    let (left, top) = (pixel(rectangle.x, upTo: width), pixel(rectangle.y, upTo: height))
    return (
      left..<max(left + 1, pixel(right, upTo: width)),
      top..<max(top + 1, pixel(bottom, upTo: height))
    )
  }

  /// Draws a line with round ends.
  ///
  /// - Parameter lineWidth: in pixels; `lineWidth` when nil.
  public mutating func line(
    from start: PicturePoint, to end: PicturePoint, _ color: PictureColor, lineWidth: Int? = nil
  ) {
    let radius = Double(max(1, lineWidth ?? self.lineWidth)) / 2
    guard [start.x, start.y, end.x, end.y].allSatisfy(\.isFinite) else { return }
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    let length = dx * dx + dy * dy
    forEachPixel(around: [start, end], radius) { canvas, x, y in
      let (px, py) = (Double(x) + 0.5 - start.x, Double(y) + 0.5 - start.y)
      let along = length > 0 ? min(max((px * dx + py * dy) / length, 0), 1) : 0
      let (ex, ey) = (px - along * dx, py - along * dy)
      if ex * ex + ey * ey <= radius * radius { canvas.set(x, y, color) }
    }
  }

  /// Fills a circle.
  ///
  /// - Parameter radius: in pixels.
  public mutating func disc(at center: PicturePoint, radius: Double, _ color: PictureColor) {
    guard center.x.isFinite, center.y.isFinite, radius.isFinite, radius > 0 else { return }
    forEachPixel(around: [center], radius) { canvas, x, y in
      let (dx, dy) = (Double(x) + 0.5 - center.x, Double(y) + 0.5 - center.y)
      if dx * dx + dy * dy <= radius * radius { canvas.set(x, y, color) }
    }
  }

  /// Calls `body` for the pixels inside of the rectangle about these points.
  private mutating func forEachPixel(
    around points: [PicturePoint], _ radius: Double,
    _ body: (inout PictureCanvas, Int, Int) -> Void
  ) {
    func range(_ values: [Double], _ size: Int) -> Range<Int> {
      let first = pixel((values.min() ?? 0) - radius - 1, upTo: size)
      let last = pixel((values.max() ?? 0) + radius + 1, upTo: size)
      return (first..<max(first, last)).clamped(to: 0..<size)
    }
    let columns = range(points.map(\.x), width)
    for y in range(points.map(\.y), height) {
      for x in columns { body(&self, x, y) }
    }
  }

  /// Tints the pixels of classes.
  ///
  /// - Parameters:
  ///   - classes: the class of every pixel, rows from top to bottom.
  ///   - colors: by class; pixels of others are left as they are.
  ///   - opacity: 0 to 1.
  /// - Throws: `shapeMismatch` when there is not one class for each pixel.
  public mutating func tint(
    _ classes: [Int], _ colors: [Int: PictureColor], opacity: Double = 0.5
  ) throws {
    guard classes.count == width * height else {
      throw GraftError(
        .shapeMismatch, "\(classes.count) classes do not fill \(width) x \(height) pixels")
    }
    let share = Int((256 * min(max(opacity.isFinite ? opacity : 0, 0), 1)).rounded())
    for y in 0..<height {
      for x in 0..<width {
        if let color = colors[classes[y * width + x]] { mix(x, y, color, share) }
      }
    }
  }
}
