import Foundation
import GraftDiagnostics
import GraftTensor

/// Writes pictures as a video's file: H.264 where ffmpeg has it, else MPEG-4, in `.mp4`, `.mov` or
/// `.mkv`.
///
/// The file appears under its name when `finish` is called, with all pictures up to then; without
/// `finish` nothing is left. It is used by one thread at a time.
public final class VideoWriter {
  private let url: URL
  private let target: String
  private let partial: String
  private let process: FedProcess
  private let width: Int
  private let height: Int
  private var isFinished = false

  /// How a video's file may end.
  public static let fileExtensions = ["mp4", "mov", "mkv"]

  /// - Parameters:
  ///   - width: of every picture.
  ///   - height: of every picture.
  ///   - sound: a file whose first sound track is taken, as long as the pictures last.
  /// - Throws: `invalidArgument` for another ending, sides below 1 or an impossible rate;
  ///   `externalProgram` when ffmpeg is missing.
  public init(
    to url: URL, width: Int, height: Int, framesPerSecond: Double, sound: URL? = nil
  ) throws {
    try locating(url.path) {
      guard Self.fileExtensions.contains(url.pathExtension.lowercased()) else {
        throw GraftError(
          .invalidArgument,
          "videos are written as .mp4, .mov or .mkv, not as '.\(url.pathExtension)'",
          fix: "Choose a name that ends in .mp4")
      }
      _ = try Picture.byteCount(width, height)
      try Video.check(framesPerSecond)
    }
    self.url = url
    (self.width, self.height) = (width, height)
    target = try replaceableFile(at: url.path)
    let name = URL(fileURLWithPath: target)
    partial =
      name.deletingLastPathComponent().appending(
        path: ".\(UUID().uuidString.prefix(8)).\(name.lastPathComponent)"
      ).path
    process = try FedProcess(
      ChildProcess(
        "ffmpeg",
        ["-y", "-hide_banner", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
          + ["-s", "\(width)x\(height)", "-framerate", "\(framesPerSecond)", "-i", "pipe:0"]
          + Self.soundInput(sound) + Self.codec()
          // The codecs take even sides only.
          + ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "file:" + partial],
        installation: FFmpeg.installation))
  }

  deinit {
    if !isFinished { unlink(partial) }
  }

  private static func soundInput(_ sound: URL?) -> [String] {
    guard let sound else { return ["-map", "0:v:0"] }
    return [
      "-protocol_whitelist", "file", "-i", "file:" + sound.path, "-map", "0:v:0", "-map", "1:a:0?",
      "-c:a", "aac", "-shortest",
    ]
  }

  private static func codec() throws -> [String] {
    var text: [UInt8] = []
    let list = ChildProcess(
      "ffmpeg", ["-hide_banner", "-encoders"], installation: FFmpeg.installation)
    _ = try list.run { text.append(contentsOf: $0) }
    return String(decoding: text, as: UTF8.self).contains(" libx264 ")
      ? ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20"] : ["-c:v", "mpeg4", "-q:v", "3"]
  }

  /// Adds a picture at the end.
  ///
  /// - Throws: `shapeMismatch` when it has other sides than the video; `externalProgram` with what
  ///   ffmpeg says; `cancelled`.
  public func append(_ picture: Picture) throws {
    try locating(url.path) {
      guard picture.width == width, picture.height == height else {
        throw GraftError(
          .shapeMismatch,
          "a picture of \(picture.width) x \(picture.height) does not fit into a video of "
            + "\(width) x \(height)", fix: "Resize it first")
      }
      try picture.pixels.withUnsafeBytes { try process.write($0) }
    }
  }

  /// Ends the video and puts its file in place.
  ///
  /// - Throws: `externalProgram`, `inputOutput`.
  public func finish() throws {
    guard !isFinished else { return }
    try locating(url.path) {
      let ending = try process.finish()
      guard ending.status == 0 else {
        throw GraftError(
          .externalProgram,
          "the video cannot be written: "
            + (ending.messages.last ?? "ffmpeg gave no reason (status \(ending.status))"),
          fix: "Check that the folder exists and is writable and that the disk has space")
      }
      guard rename(partial, target) == 0 else {
        throw GraftError(
          .inputOutput, "the file cannot be put in place: \(String(cString: strerror(errno)))")
      }
      isFinished = true
    }
  }
}
