/// A picture stored as luma and two chroma planes of equal or half size, as JPEG files do, and how it
/// becomes red, green and blue.
///
/// Chroma is enlarged with a triangle filter (weights 3/4 and 1/4) and converted by the equations of
/// ITU T.871 with the roundings of the Independent JPEG Group's library, so that pictures have the
/// values that other programs train on.
struct ChromaPlanes: Equatable {
  let width: Int
  let height: Int
  /// How many luma values lie beside one chroma value: 1 or 2.
  let horizontal: Int
  /// How many luma values lie below one chroma value: 1, or 2 where `horizontal` is 2.
  let vertical: Int

  var chromaWidth: Int { (width + horizontal - 1) / horizontal }
  var chromaHeight: Int { (height + vertical - 1) / vertical }

  /// The bytes of all three planes.
  var byteCount: Int { width * height + 2 * chromaWidth * chromaHeight }

  /// ffmpeg's name for the planes.
  var pixelFormat: String {
    vertical == 2 ? "yuvj420p" : horizontal == 2 ? "yuvj422p" : "yuvj444p"
  }

  /// Red, green and blue of every pixel.
  ///
  /// - Parameter planes: luma, then the blue and red differences, `byteCount` values.
  func pixels(_ planes: [UInt8]) -> [UInt8] {
    guard planes.count == byteCount else { return [] }
    return [UInt8](unsafeUninitializedCapacity: 3 * width * height) { pixels, count in
      planes.withUnsafeBufferPointer { source in
        var blue = [Int32](repeating: 0, count: width + 1)
        var red = blue
        for y in 0..<height {
          enlarge(source, from: width * height, row: y, into: &blue)
          enlarge(source, from: width * height + chromaWidth * chromaHeight, row: y, into: &red)
          convert(source, row: y, blue, red, into: pixels)
        }
      }
      count = 3 * width * height
    }
  }

  /// One row of a chroma plane in the luma's size.
  private func enlarge(
    _ source: UnsafeBufferPointer<UInt8>, from start: Int, row y: Int, into line: inout [Int32]
  ) {
    let row = y / vertical
    let near = start + row * chromaWidth
    guard horizontal == 2 else {
      for x in 0..<width { line[x] = Int32(source[near + x]) }
      return
    }
    guard chromaWidth > 2 else {
      // As in that library, narrow planes are repeated.
      for x in 0..<width { line[x] = Int32(source[near + x / 2]) }
      return
    }
    let neighbour = min(max(row + (y % 2 == 0 ? -1 : 1), 0), chromaHeight - 1)
    let far = start + neighbour * chromaWidth
    // Rows are mixed first, without rounding.
    let isMixed = vertical == 2
    func value(_ x: Int) -> Int32 {
      isMixed ? 3 * Int32(source[near + x]) + Int32(source[far + x]) : Int32(source[near + x])
    }
    let (shift, roundLeft, roundRight): (Int32, Int32, Int32) = isMixed ? (4, 8, 7) : (2, 1, 2)
    var (before, here) = (value(0), value(0))
    for x in 0..<chromaWidth {
      let next = x + 1 < chromaWidth ? value(x + 1) : here
      line[2 * x] = (3 * here + before + roundLeft) >> shift
      if 2 * x + 1 < width { line[2 * x + 1] = (3 * here + next + roundRight) >> shift }
      (before, here) = (here, next)
    }
  }

  private func convert(
    _ source: UnsafeBufferPointer<UInt8>, row y: Int, _ blue: [Int32], _ red: [Int32],
    into pixels: UnsafeMutableBufferPointer<UInt8>
  ) {
    for x in 0..<width {
      let luma = Int32(source[y * width + x])
      let (b, r) = (blue[x] - 128, red[x] - 128)
      let place = 3 * (y * width + x)
      // The factors are 1.402, 0.71414, 0.34414 and 1.772 times 65536.
      pixels[place] = clamped(luma + (91_881 * r + 32_768) >> 16)
      pixels[place + 1] = clamped(luma + (32_768 - 46_802 * r - 22_554 * b) >> 16)
      pixels[place + 2] = clamped(luma + (116_130 * b + 32_768) >> 16)
    }
  }

  private func clamped(_ value: Int32) -> UInt8 { UInt8(min(max(value, 0), 255)) }
}
