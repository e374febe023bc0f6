import Foundation
import GraftDiagnostics
import GraftTensor
import Synchronization

/// Turns picture files into pictures, with the ffmpeg program.
///
/// Every file is read in a process of its own that may open local files only and has limits on time
/// and memory. Pictures are turned upright as their Exif data says. Transparency is ignored: the
/// colours are those stored with it. 16 bits become 8; CMYK becomes RGB without colour profiles.
public struct PictureDecoder: Sendable {
  /// Larger pictures are refused; 100 million pixels by default.
  public var maximumPixelCount = 100_000_000
  /// The program's name or path.
  package var program = "ffmpeg"
  /// How long to wait for the program.
  package var timeLimit: Duration = .seconds(60)

  public init() {}

  /// Decodes a file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `badData` when the file is no picture, is damaged or cut
  ///   off, or has too many pixels; `externalProgram` when ffmpeg is missing or takes too long;
  ///   `cancelled`. Each names the file.
  public func decode(_ url: URL) throws -> Picture {
    try locating(url.path) {
      try MediaFile.check(url, kind: "picture", remedy: "Get the picture again")
      let file = try FileMapping(path: url.path)
      // The bytes are there as long as the mapping is.
      guard let header = withExtendedLifetime(file, { PictureHeader(file.bytes) }) else {
        throw GraftError(
          .badData, "the file is no picture of a known format",
          fix: "Convert it to JPEG or PNG")
      }
      guard !header.isCutOff else { throw failure(["its end is missing"], status: 0) }
      if let planes = header.planes {
        try check(planes.width, planes.height)
        let bytes = try run(url, header, ["-f", "rawvideo", "-pix_fmt", planes.pixelFormat])
        if bytes.count == planes.byteCount {
          let picture = Picture(
            planes.width, planes.height, checked: planes.pixels(bytes), url.path)
          return try picture.upright(from: header.orientation ?? 1)
        }
      }
      let bytes = try run(url, header, ["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24"])
      return try picture(bytes, url.path).upright(from: header.orientation ?? 1)
    }
  }

  /// Decodes files, several at the same time.
  ///
  /// - Returns: for each file the picture, or what `decode` threw.
  public func decode(_ urls: [URL]) -> [Result<Picture, any Error>] {
    let results = Mutex([Result<Picture, any Error>?](repeating: nil, count: urls.count))
    // Pieces are taken one by one, since pictures differ in size.
    let next = Mutex(0)
    parallelLoop(min(availableThreads, urls.count), threads: availableThreads) { range in
      for _ in range {
        while true {
          let index = next.withLock { number in
            defer { number += 1 }
            return number
          }
          guard index < urls.count else { break }
          let result = Result { try decode(urls[index]) }
          results.withLock { $0[index] = result }
        }
      }
    }
    return results.withLock { $0.compactMap(\.self) }
  }

  // MARK: The program

  private func run(_ url: URL, _ header: PictureHeader, _ output: [String]) throws -> [UInt8] {
    let input = "file:" + url.path
    var arguments = [
      "-nostdin", "-hide_banner", "-loglevel", "error", "-timelimit", "60",
      "-max_alloc", "\(Self.largestBlock)", "-threads", "1", "-protocol_whitelist", "file",
      // It counts whole blocks; what it lets through is counted exactly below.
      "-max_pixels", "\(2 * min(maximumPixelCount, 1 << 40) + 65_536)",
    ]
    if header.orientation != nil { arguments += ["-noautorotate"] }
    if header.format == .jpeg { arguments += ["-idct", "int"] }
    arguments += ["-f", header.demuxer, "-i", input, "-map", "0:v:0", "-frames:v", "1"]
    var child = ChildProcess(
      program, arguments + output + ["pipe:1"], installation: FFmpeg.installation)
    child.timeLimit = timeLimit
    var bytes: [UInt8] = []
    let most = 3 * min(maximumPixelCount, 1 << 40) + 100
    let ending = try child.run { piece in
      guard bytes.count + piece.count <= most else { throw tooLarge() }
      bytes.append(contentsOf: piece)
    }
    let messages = ending.messages.map { FFmpeg.plain($0, input: input) }
    guard ending.status == 0, messages.isEmpty, !bytes.isEmpty else {
      throw failure(messages, status: ending.status)
    }
    return bytes
  }

  /// In bytes; a picture of 100 million pixels with 16 bits for each of four colours.
  private static let largestBlock = 1 << 30

  private func failure(_ messages: [String], status: Int) -> GraftError {
    if messages.contains(where: { $0.contains("max pixel count") }) { return tooLarge() }
    let reason = messages.first ?? "it gave no reason (status \(status))"
    return GraftError(
      .badData, "the picture cannot be decoded whole: \(reason)",
      fix: "Check that it shows, or save it again as JPEG or PNG")
  }

  private func check(_ width: Int, _ height: Int) throws {
    guard width <= maximumPixelCount / height else { throw tooLarge() }
  }

  private func tooLarge() -> GraftError {
    GraftError(
      .badData, "the picture has more than \(maximumPixelCount) pixels", fix: "Make it smaller")
  }

  /// Reads `P6`, the sides, 255 and the pixels.
  private func picture(_ bytes: [UInt8], _ name: String) throws -> Picture {
    let header = bytes.prefix(40).split(
      maxSplits: 4, omittingEmptySubsequences: true, whereSeparator: { $0 <= 0x20 })
    let words = header.prefix(4).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 4, words[0] == "P6", let width = Int(words[1]),
      let height = Int(words[2]), words[3] == "255"
    else {
      throw GraftError(.externalProgram, "'\(program)' gave something else than a picture")
    }
    guard width > 0, height > 0 else { throw failure(["it has no pixels"], status: 0) }
    try check(width, height)
    let start = words.reduce(0) { $0 + $1.utf8.count + 1 }
    return try Picture(
      width: width, height: height, pixels: Array(bytes.dropFirst(start)), name: name)
  }
}
