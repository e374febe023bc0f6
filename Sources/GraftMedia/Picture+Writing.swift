import Foundation
import GraftDiagnostics
import GraftTensor

extension Picture {
  /// How a picture's file may end.
  package static let writtenExtensions = ["png", "jpg", "jpeg"]

  /// Writes a PNG or JPEG file, replacing a file that is there only when all has been written.
  ///
  /// - Throws: `invalidArgument` when the name does not end in `.png`, `.jpg` or `.jpeg`,
  ///   `externalProgram` when ffmpeg is missing, `inputOutput`.
  public func write(to url: URL) throws {
    try locating(url.path) {
      let ending = url.pathExtension.lowercased()
      guard Self.writtenExtensions.contains(ending) else {
        throw GraftError(
          .invalidArgument, "pictures are written as PNG or JPEG, not as '.\(url.pathExtension)'",
          fix: "Choose a name that ends in .png or .jpg")
      }
      let bytes = try encoded(asPNG: ending == "png")
      try replaceFile(at: url.path) { write in try bytes.withUnsafeBytes { try write($0) } }
    }
  }

  /// The bytes of the file.
  private func encoded(asPNG: Bool) throws -> [UInt8] {
    let codec =
      asPNG
      ? ["-c:v", "png", "-pix_fmt", "rgb24"]
      : ["-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj444p", "-huffman", "optimal"]
    var child = ChildProcess(
      "ffmpeg",
      [
        "-hide_banner", "-loglevel", "error", "-threads", "1", "-f", "rawvideo", "-pix_fmt",
        "rgb24", "-s", "\(width)x\(height)", "-i", "pipe:0", "-frames:v", "1",
      ] + codec + ["-f", "image2pipe", "pipe:1"], installation: FFmpeg.installation)
    child.timeLimit = .seconds(60)
    let collected = ByteCollector()
    let ending = try pixels.withUnsafeBytes { pixels in
      try child.run(input: pixels) { collected.bytes.append(contentsOf: $0) }
    }
    guard ending.status == 0, !collected.bytes.isEmpty else {
      throw GraftError(
        .externalProgram,
        "the picture cannot be written: "
          + (ending.messages.last ?? "it gave no reason (status \(ending.status))"))
    }
    return collected.bytes
  }
}

/// What a program gave so far.
private final class ByteCollector {
  var bytes: [UInt8] = []
}
