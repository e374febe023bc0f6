import Foundation
import GraftDiagnostics

/// A video's file.
public struct Video: Sendable {
  public let url: URL
  public let information: VideoInformation

  /// How the names of videos end that `Video` is tried on in a folder.
  public static let fileExtensions: Set<String> = [
    "mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg", "ts", "ogv", "wmv", "flv",
  ]

  /// - Throws: as `VideoInformation`.
  public init(contentsOf url: URL) throws {
    self.url = url
    information = try VideoInformation(contentsOf: url)
  }

  /// Its pictures from the beginning, turned as the file says.
  ///
  /// The file is read in a process of its own that may open local files only.
  ///
  /// - Parameter framesPerSecond: how many of each second; the file's own rate when nil. Pictures are
  ///   left out or repeated, so that they come at equal times.
  /// - Throws: `invalidArgument` when the rate is not above 0 and at most 1000.
  public func frames(framesPerSecond: Double? = nil) throws -> VideoFrames {
    let rate = framesPerSecond ?? information.framesPerSecond
    try Self.check(rate)
    return VideoFrames(
      input: ["-protocol_whitelist", "file", "-i", "file:" + url.path], framesPerSecond: rate,
      isLive: false, name: url.path)
  }

  static func check(_ framesPerSecond: Double) throws {
    guard framesPerSecond > 0, framesPerSecond <= 1000 else {
      throw GraftError(
        .invalidArgument, "\(framesPerSecond) pictures in a second are no frame rate",
        fix: "Choose a number above 0, at most 1000")
    }
  }
}
