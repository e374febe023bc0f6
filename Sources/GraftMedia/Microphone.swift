import Foundation
import GraftDiagnostics

/// Records from a microphone, or from anything else that the ffmpeg program can listen to.
public struct Microphone: Sendable {
  /// What to listen to:
  /// `default` (PulseAudio's default source, else ALSA's default device), `pulse:SOURCE`,
  /// `alsa:hw:0`, in general `FORMAT:DEVICE` with an input device of ffmpeg; or the path of a file.
  public var device: String
  /// Samples per second to record.
  public var sampleRate = 16_000
  /// What makes a recording unusable.
  public var check = RecordingCheck()
  /// The program's name or path.
  package var program = "ffmpeg"

  public init(device: String = "default") { self.device = device }

  /// Records for that long, or until a file as device ends.
  ///
  /// - Throws: `externalProgram` when the device cannot be opened or ffmpeg is missing; `badData` when
  ///   the recording is empty, too short or silent; `invalidArgument` for a duration that is not
  ///   above 0 and at most an hour, or a device that cannot be one; `cancelled`.
  public func record(_ duration: Duration) throws -> Recording {
    guard duration > .zero, duration <= Self.longest else {
      throw GraftError(
        .invalidArgument,
        "a recording lasts more than 0 s and at most \(Self.longest), not \(duration)")
    }
    var complaints: [String] = []
    for input in try inputs() {
      let result = try locating(device) {
        try FFmpeg(
          program: program, input: input, sampleRate: sampleRate, duration: duration,
          timeLimit: duration + Self.openingTime
        ).run()
      }
      if result.status == 0 || !result.samples.isEmpty {
        let recording = Recording(samples: result.samples, sampleRate: sampleRate, name: device)
        return try checked(recording, duration)
      }
      complaints.append(result.reason)
    }
    throw GraftError(
      .externalProgram,
      "no microphone could be opened as '\(device)': \(complaints.joined(separator: "; "))",
      fix: "Connect a microphone, or name another device, such as alsa:hw:0, pulse:NAME or a file")
  }

  private static let longest: Duration = .seconds(3600)
  /// How long a device may take to open.
  private static let openingTime: Duration = .seconds(10)

  /// The inputs to try in turn.
  private func inputs() throws -> [[String]] {
    if device == "default" {
      return ["pulse", "alsa"].map { ["-f", $0, "-i", "default"] }
    }
    if FileManager.default.fileExists(atPath: device) {
      return [["-protocol_whitelist", "file", "-i", "file:" + device]]
    }
    let parts = device.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
    else {
      throw GraftError(
        .invalidArgument, "'\(device)' is neither a device nor a file that is there",
        fix: "Name 'default', 'alsa:hw:0', 'pulse:NAME' or a file")
    }
    return [["-f", String(parts[0]), "-i", String(parts[1])]]
  }

  /// A recording that was asked to be short is not refused for it.
  private func checked(_ recording: Recording, _ duration: Duration) throws -> Recording {
    var check = check
    check.minimumDuration = min(check.minimumDuration, duration * 0.9)
    return try check.checked(recording)
  }
}
