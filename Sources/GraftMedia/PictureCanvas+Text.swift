extension PictureCanvas {
  /// The sides of a text of one line, in pixels.
  ///
  /// - Parameter scale: how often a pixel of a letter is repeated across and down.
  public func textSize(_ text: String, scale: Int? = nil) -> (width: Int, height: Int) {
    let scale = bounded(scale)
    let count = min(text.count, width)
    return (max(0, count * BitmapFont.advance - 1) * scale, BitmapFont.height * scale)
  }

  /// Writes a text of one line.
  ///
  /// - Parameters:
  ///   - x: the left side of the first letter.
  ///   - y: the upper side of capital letters.
  ///   - scale: how often a pixel of a letter is repeated across and down; grows with the picture
  ///     when nil.
  public mutating func text(
    _ text: String, x: Int, y: Int, _ color: PictureColor, scale: Int? = nil
  ) {
    let scale = bounded(scale)
    let farthest = 1 << 30
    guard abs(max(x, -farthest)) < farthest, abs(max(y, -farthest)) < farthest else { return }
    var left = x
    for character in text {
      guard left < width else { return }
      for (row, line) in BitmapFont.rows(of: character).enumerated() where line != 0 {
        let rows = y + row * scale..<y + (row + 1) * scale
        for column in 0..<BitmapFont.width where line & (1 << (BitmapFont.width - 1 - column)) != 0
        {
          fill(left + column * scale..<left + (column + 1) * scale, rows, color)
        }
      }
      left += BitmapFont.advance * scale
    }
  }

  /// Writes a text on a filled background: above a place where there is room, else below it, and
  /// moved so that as much of it as possible is inside the picture.
  ///
  /// - Parameters:
  ///   - place: the lower left corner of the background where there is room above, else the upper.
  ///   - color: of the background; the letters are black or white.
  ///   - below: whether it is written below in any case.
  ///   - scale: how often a pixel of a letter is repeated; grows with the picture when nil.
  /// - Returns: the height of the background.
  @discardableResult
  public mutating func label(
    _ text: String, at place: PicturePoint, _ color: PictureColor, below: Bool = false,
    scale: Int? = nil
  ) -> Int {
    let scale = bounded(scale)
    let size = textSize(text, scale: scale)
    let margin = 2 * scale
    let (boxWidth, boxHeight) = (size.width + 2 * margin, size.height + margin)
    let x = max(0, min(pixel(place.x, upTo: width), width - boxWidth))
    let line = pixel(place.y, upTo: height)
    let y = !below && line >= boxHeight ? line - boxHeight : max(0, min(line, height - boxHeight))
    fill(x..<x + boxWidth, y..<y + boxHeight, color)
    self.text(text, x: x + margin, y: y + margin, color.readable, scale: scale)
    return boxHeight
  }

  private func bounded(_ scale: Int?) -> Int { min(max(1, scale ?? textScale), 1024) }
}
