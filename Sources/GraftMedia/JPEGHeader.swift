/// The marker segments of a JPEG file up to its picture data.
struct JPEGHeader {
  /// From the Exif segment.
  private(set) var orientation: Int?
  /// Nil when the colours are not luma and chroma of 8 bits in one of the usual proportions.
  private(set) var planes: ChromaPlanes?

  /// Whether the mark at the end of the picture is missing. Without it a progressive picture may lack
  /// its details, which no decoder notices.
  private(set) var isCutOff = false

  private var isJFIF = false
  /// What Adobe's segment says about colours: 0 as they are, 1 luma and chroma, 2 with black.
  private var adobeTransform: Int?

  init(_ header: HeaderBytes) {
    var position = 2
    var frame: Int?
    while let marker = Self.nextMarker(header, &position), marker != 0xDA, marker != 0xD9 {
      guard let length = header.number(at: position, 2, bigEndian: true), length >= 2 else { break }
      read(header, marker, at: position + 2)
      if (0xC0...0xC2).contains(marker) { frame = position + 2 }
      position += length
    }
    if let frame { planes = planes(header, at: frame) }
    isCutOff = !header.contains([0xFF, 0xD9], after: position)
  }

  /// Steps over a marker that has a segment; standalone ones are skipped.
  private static func nextMarker(_ header: HeaderBytes, _ position: inout Int) -> Int? {
    while header.byte(position) == 0xFF {
      while header.byte(position) == 0xFF { position += 1 }
      guard let marker = header.byte(position).map(Int.init) else { return nil }
      position += 1
      if marker != 0x01, !(0xD0...0xD7).contains(marker) { return marker }
    }
    return nil
  }

  private mutating func read(_ header: HeaderBytes, _ marker: Int, at position: Int) {
    switch marker {
    case 0xE0 where header.text(at: position, 4) == "JFIF": isJFIF = true
    case 0xE1 where header.text(at: position, 6) == "Exif\0\0":
      if orientation == nil { orientation = header.tiffOrientation(at: position + 6) }
    case 0xEE where header.text(at: position, 5) == "Adobe":
      adobeTransform = header.byte(position + 11).map(Int.init)
    default: break
    }
  }

  private func planes(_ header: HeaderBytes, at position: Int) -> ChromaPlanes? {
    func byte(_ offset: Int) -> Int? { header.byte(position + offset).map(Int.init) }
    guard byte(0) == 8, byte(5) == 3,
      let height = header.number(at: position + 1, 2, bigEndian: true), height > 0,
      let width = header.number(at: position + 3, 2, bigEndian: true), width > 0,
      let luma = byte(7), byte(10) == 0x11, byte(13) == 0x11
    else { return nil }
    let hasPlainNames = byte(6) == 1 && byte(9) == 2 && byte(12) == 3
    guard adobeTransform == 1 || (adobeTransform == nil && (isJFIF || hasPlainNames)) else {
      return nil
    }
    let reduction: (Int, Int)? =
      switch luma {
      case 0x11: (1, 1)
      case 0x21: (2, 1)
      case 0x22: (2, 2)
      default: nil
      }
    return reduction.map {
      ChromaPlanes(width: width, height: height, horizontal: $0.0, vertical: $0.1)
    }
  }
}
