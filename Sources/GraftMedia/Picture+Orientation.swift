extension Picture {
  /// The picture upright, from how its file says it is stored.
  ///
  /// - Parameter orientation: of Exif: 1 upright, 2 mirrored, 3 upside down, 4 both, 5 to 8 the same
  ///   with rows and columns exchanged (row 0 is the left side in 5 and 8, the right side in 6 and 7).
  func upright(from orientation: Int) throws -> Picture {
    guard (2...8).contains(orientation) else { return self }
    let isTurned = orientation >= 5
    let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
    let flipsX = [2, 3, 6, 7].contains(orientation)
    let flipsY = [3, 4, 7, 8].contains(orientation)
    return try making(newWidth, newHeight) { pixels, source in
      for y in 0..<newHeight {
        for x in 0..<newWidth {
          let (fromX, fromY) = (
            flipsX ? newWidth - 1 - x : x, flipsY ? newHeight - 1 - y : y
          )
          let from = 3 * (isTurned ? fromX * width + fromY : fromY * width + fromX)
          let to = 3 * (y * newWidth + x)
          for channel in 0..<3 { pixels[to + channel] = source[from + channel] }
        }
      }
    }
  }

  /// Mirrored, left and right exchanged.
  public func mirrored() throws -> Picture { try upright(from: 2) }

  /// Mirrored, top and bottom exchanged.
  public func mirroredVertically() throws -> Picture { try upright(from: 4) }
}
