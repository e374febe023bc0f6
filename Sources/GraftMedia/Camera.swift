import Foundation
import GraftDiagnostics

/// A camera that the system shows as `/dev/videoN`, read by ffmpeg's V4L2 device.
public struct Camera: Sendable {
  /// N of `/dev/videoN`.
  public let number: Int
  /// The wanted sides in pixels, such as 1280 and 720; the camera's own choice when nil.
  public var size: (width: Int, height: Int)?
  /// The wanted pictures in a second; the camera's own choice when nil.
  public var framesPerSecond: Double?
  /// Where devices are.
  package var devices = "/dev"

  public init(number: Int = 0) { self.number = number }

  /// - Parameter word: `camera` or `camera:N`.
  /// - Returns: nil when the word names no camera.
  /// - Throws: `invalidArgument` when N is no number.
  public init?(named word: String) throws {
    let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.first == "camera" else { return nil }
    guard parts.count == 2 else {
      self.init()
      return
    }
    guard let number = Int(parts[1]), (0...255).contains(number) else {
      throw GraftError(
        .invalidArgument, "'\(word)' names no camera",
        fix: "Write camera, or camera:N with 0 to 255")
    }
    self.init(number: number)
  }

  public var device: String { "\(devices)/video\(number)" }

  /// What it sees from now on. Pictures that nobody fetches in time are dropped.
  ///
  /// - Throws: `notFound` when there is no such camera; errors of opening it come from `next`.
  public func frames() throws -> VideoFrames {
    guard FileManager.default.fileExists(atPath: device) else {
      let others = Self.numbers(in: devices)
      throw GraftError(
        .notFound, "there is no camera: the system has no \(device)",
        fix: others.isEmpty
          ? "Connect a camera, or give a video's file"
          : "Choose one of: " + others.map { "camera:\($0)" }.joined(separator: ", "))
    }
    var input = ["-f", "v4l2"]
    if let size { input += ["-video_size", "\(size.width)x\(size.height)"] }
    if let framesPerSecond {
      try Video.check(framesPerSecond)
      input += ["-framerate", "\(framesPerSecond)"]
    }
    return VideoFrames(
      input: input + ["-i", device], framesPerSecond: nil, isLive: true, name: device)
  }

  /// The numbers of the cameras that are there.
  private static func numbers(in folder: String) -> [Int] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix("video") }.compactMap { Int($0.dropFirst(5)) }.sorted()
  }
}
