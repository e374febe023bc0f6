/// What the first bytes of a picture's file tell: its format, how it is turned, and for JPEG how its
/// colours are stored.
///
/// Sources: ITU T.81 (JPEG), CIPA DC-008 (Exif), W3C PNG, Google's WebP container, Adobe TIFF 6.0.
struct PictureHeader {
  enum Format: String {
    case jpeg, png, gif, bmp, webp, tiff, pnm, heif

    /// ffmpeg's name of what reads the format. It is never left to the file to choose it.
    func demuxer(_ first: UInt8) -> String {
      switch self {
      case .jpeg: "jpeg_pipe"
      case .png: "png_pipe"
      case .gif: "gif"
      case .bmp: "bmp_pipe"
      case .webp: "webp_pipe"
      case .tiff: "tiff_pipe"
      case .heif: "mov"
      case .pnm:
        switch first {
        case UInt8(ascii: "1"), UInt8(ascii: "4"): "pbm_pipe"
        case UInt8(ascii: "2"), UInt8(ascii: "5"): "pgm_pipe"
        case UInt8(ascii: "7"): "pam_pipe"
        default: "ppm_pipe"
        }
      }
    }
  }

  let format: Format
  let demuxer: String
  /// The Exif orientation, 1 to 8; nil where ffmpeg turns the picture.
  private(set) var orientation: Int?
  /// How a JPEG stores luma and chroma; nil for others and for colours stored in another way.
  private(set) var planes: ChromaPlanes?
  /// Whether the file obviously ends too early.
  private(set) var isCutOff = false

  /// Nil when the bytes begin like no known format.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let header = HeaderBytes(bytes)
    guard let format = Self.format(header) else { return nil }
    self.format = format
    demuxer = format.demuxer(bytes.count > 1 ? bytes[1] : 0)
    switch format {
    case .jpeg:
      let jpeg = JPEGHeader(header)
      orientation = jpeg.orientation ?? 1
      planes = jpeg.planes
      isCutOff = jpeg.isCutOff
    case .png: orientation = Self.pngOrientation(header) ?? 1
    case .webp: orientation = Self.webpOrientation(header) ?? 1
    case .tiff: orientation = header.tiffOrientation(at: 0) ?? 1
    case .gif, .bmp, .pnm: orientation = 1
    case .heif: orientation = nil
    }
  }

  private static func format(_ header: HeaderBytes) -> Format? {
    if header.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    if header.starts(with: [0x89] + Array("PNG".utf8)) { return .png }
    if header.starts(with: Array("GIF8".utf8)) { return .gif }
    if header.starts(with: Array("BM".utf8)) { return .bmp }
    if header.starts(with: Array("RIFF".utf8)), header.text(at: 8, 4) == "WEBP" { return .webp }
    if header.starts(with: Array("II*\0".utf8)) || header.starts(with: Array("MM\0*".utf8)) {
      return .tiff
    }
    if header.text(at: 0, 1) == "P", let second = header.byte(1), (0x31...0x37).contains(second),
      let third = header.byte(2), third <= 0x20
    {
      return .pnm
    }
    if header.text(at: 4, 4) == "ftyp",
      ["avif", "heic", "heix", "mif1"].contains(header.text(at: 8, 4))
    {
      return .heif
    }
    return nil
  }

  private static func pngOrientation(_ header: HeaderBytes) -> Int? {
    var position = 8
    while let length = header.number(at: position, 4, bigEndian: true) {
      if header.text(at: position + 4, 4) == "eXIf" {
        return header.tiffOrientation(at: position + 8)
      }
      position += 12 + length
    }
    return nil
  }

  private static func webpOrientation(_ header: HeaderBytes) -> Int? {
    var position = 12
    while let length = header.number(at: position + 4, 4, bigEndian: false) {
      if header.text(at: position, 4) == "EXIF" {
        // Some writers put JPEG's mark before the table.
        let mark = header.text(at: position + 8, 4) == "Exif" ? 6 : 0
        return header.tiffOrientation(at: position + 8 + mark)
      }
      position += 8 + length + length % 2
    }
    return nil
  }
}

/// Bytes that are asked for by position, whether they are there or not.
struct HeaderBytes {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  func byte(_ position: Int) -> UInt8? {
    bytes.indices.contains(position) ? bytes[position] : nil
  }

  /// An unsigned number of up to 4 bytes.
  func number(at position: Int, _ count: Int, bigEndian: Bool) -> Int? {
    guard position >= 0, count <= 4, position <= bytes.count - count else { return nil }
    let places = position..<position + count
    return (bigEndian ? Array(places) : places.reversed()).reduce(0) { $0 << 8 | Int(bytes[$1]) }
  }

  func text(at position: Int, _ count: Int) -> String? {
    guard position >= 0, position <= bytes.count - count else { return nil }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  func starts(with prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }

  /// Whether two bytes follow each other somewhere behind a position; looked for from the end.
  func contains(_ pair: [UInt8], after position: Int) -> Bool {
    stride(from: bytes.count - 2, through: max(0, position), by: -1).contains {
      bytes[$0] == pair[0] && bytes[$0 + 1] == pair[1]
    }
  }

  /// The orientation in the first table of a TIFF structure, 1 to 8.
  func tiffOrientation(at start: Int) -> Int? {
    guard let order = text(at: start, 2), order == "II" || order == "MM" else { return nil }
    let isBig = order == "MM"
    guard let table = number(at: start + 4, 4, bigEndian: isBig),
      let count = number(at: start + table, 2, bigEndian: isBig)
    else { return nil }
    for entry in 0..<count {
      let position = start + table + 2 + 12 * entry
      guard let tag = number(at: position, 2, bigEndian: isBig) else { return nil }
      guard tag == 0x112 else { continue }
      // A short number at the entry's beginning, or, in some files, a long one.
      let size = number(at: position + 2, 2, bigEndian: isBig) == 4 ? 4 : 2
      let value = number(at: position + 8, size, bigEndian: isBig)
      return value.flatMap { (1...8).contains($0) ? $0 : nil }
    }
    return nil
  }
}
