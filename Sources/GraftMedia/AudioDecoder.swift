import Foundation
import GraftDiagnostics

/// Turns any audio or video file into one channel of samples, with the ffmpeg program.
///
/// The first sound track is used, its channels are mixed. The file is read in a process of its own
/// that may open local files only and has limits on time, processor time and memory.
public struct AudioDecoder: Sendable {
  /// Samples per second of what is decoded, whatever the file has.
  public var sampleRate: Int
  /// Of longer files only the beginning is decoded; a warning says so.
  public var maximumDuration: Duration = .seconds(3600)
  /// What makes a recording unusable.
  public var check: RecordingCheck
  /// The program's name or path.
  package var program = "ffmpeg"
  /// How long to wait for the program.
  package var timeLimit: Duration = .seconds(600)

  public init(sampleRate: Int = 16_000, check: RecordingCheck = RecordingCheck()) {
    self.sampleRate = sampleRate
    self.check = check
  }

  /// Decodes a file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `badData` when there is no sound in the file, it cannot be
  ///   decoded, or the recording is empty, too short or silent; `externalProgram` when ffmpeg is
  ///   missing or takes too long; `cancelled`. Each names the file.
  public func decode(_ url: URL) throws -> Recording {
    let path = url.path
    let result = try locating(path) {
      guard sampleRate > 0 else {
        throw GraftError(.invalidArgument, "the sample rate is \(sampleRate), not above 0")
      }
      try checkFile(url)
      let result = try FFmpeg(
        program: program, input: inputOptions(url) + ["-i", "file:" + path],
        sampleRate: sampleRate, duration: maximumDuration + .seconds(1), timeLimit: timeLimit
      ).run()
      guard result.status == 0 else { throw failure(result) }
      return result
    }
    var samples = result.samples
    var warnings: [String] = []
    let most = maximumDuration / .seconds(1) * Double(sampleRate)
    if Double(samples.count) > most {
      samples.removeLast(samples.count - Int(most))
      warnings.append("\(path): only the first \(maximumDuration) are used")
    }
    if let message = result.messages.last {
      warnings.append("\(path): the file is damaged, what could be read of it is used (\(message))")
    }
    var recording = Recording(samples: samples, sampleRate: sampleRate, name: path)
    recording.warnings = warnings
    return try check.checked(recording)
  }

  /// Decodes files of one format and joins them to one recording.
  ///
  /// - Parameter name: what messages call the recording.
  /// - Throws: as `decode`.
  package func decode(joining urls: [URL], name: String) throws -> Recording {
    try locating(name) {
      for url in urls { try locating(url.path) { try checkFile(url) } }
      let result = try FFmpeg(
        program: program, input: urls.flatMap { inputOptions($0) + ["-i", "file:" + $0.path] },
        sampleRate: sampleRate, duration: maximumDuration, timeLimit: timeLimit
      ).run()
      guard result.status == 0 else { throw failure(result) }
      return try check.checked(
        Recording(samples: result.samples, sampleRate: sampleRate, name: name))
    }
  }

  private func checkFile(_ url: URL) throws {
    try MediaFile.check(url, kind: "recording", remedy: "Record again")
  }

  private func inputOptions(_ url: URL) -> [String] {
    // Raw G.722 has no header that names its format.
    let isRaw = url.pathExtension.lowercased() == "g722"
    return ["-protocol_whitelist", "file"] + (isRaw ? ["-f", "g722"] : [])
  }

  private func failure(_ result: FFmpeg.Result) -> GraftError {
    if result.messages.contains(where: { $0.contains("matches no streams") }) {
      return GraftError(
        .badData, "the file holds no sound",
        fix: "Give an audio file, or a video with a sound track")
    }
    return GraftError(
      .badData, "the file cannot be decoded as sound: \(result.reason)",
      fix: "Check that it plays, or convert it to WAV, FLAC or MP3")
  }
}
