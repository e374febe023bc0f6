import Foundation
import GraftDiagnostics

/// What is known of a video's file before its pictures are decoded.
public struct VideoInformation: Sendable, Equatable {
  /// In pixels, as it is stored: rows and columns of a film that is turned are exchanged.
  public let width: Int
  public let height: Int
  /// Of a film whose pictures do not come at equal times, their mean number in a second.
  public let framesPerSecond: Double
  /// Nil when the file does not say.
  public let duration: Duration?
  public let hasSound: Bool

  /// Asks the ffprobe program.
  ///
  /// - Throws: `notFound`, `inputOutput`; `badData` when there are no moving pictures in the file;
  ///   `externalProgram` when ffprobe is missing.
  public init(contentsOf url: URL) throws {
    self = try locating(url.path) {
      try MediaFile.check(url, kind: "video", remedy: "Record again")
      let facts = try Self.facts(url)
      guard let picture = facts.streams?.first(where: { $0.codecType == "video" }),
        let width = picture.width, let height = picture.height, width > 0, height > 0
      else {
        throw GraftError(
          .badData, "the file holds no moving pictures", fix: "Give a video, such as .mp4")
      }
      return VideoInformation(facts, picture, width, height)
    }
  }

  private init(_ facts: Facts, _ picture: Facts.Stream, _ width: Int, _ height: Int) {
    self.width = width
    self.height = height
    let rates = [picture.avgFrameRate, picture.rFrameRate].compactMap { $0.flatMap(Self.rate) }
    framesPerSecond = min(rates.first ?? 25, 1000)
    let seconds = [picture.duration, facts.format?.duration].compactMap { $0.flatMap(Double.init) }
    duration = seconds.first.flatMap { $0 > 0 && $0 < 1e9 ? .seconds($0) : nil }
    hasSound = facts.streams?.contains { $0.codecType == "audio" } == true
  }

  /// `30000/1001` as a number; nil when it is none or not above 0.
  private static func rate(_ text: String) -> Double? {
    let parts = text.split(separator: "/").compactMap { Double($0) }
    guard let first = parts.first, first > 0, let last = parts.last, last > 0 else { return nil }
    return parts.count == 1 ? first : first / last
  }

  /// What ffprobe writes.
  private struct Facts: Decodable {
    struct Stream: Decodable {
      var codecType: String?
      var width: Int?
      var height: Int?
      var avgFrameRate: String?
      var rFrameRate: String?
      var duration: String?
    }

    struct Format: Decodable { var duration: String? }

    var streams: [Stream]?
    var format: Format?
  }

  private static func facts(_ url: URL) throws -> Facts {
    let input = "file:" + url.path
    var child = ChildProcess(
      "ffprobe",
      [
        "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file", "-show_entries",
        "stream=codec_type,width,height,avg_frame_rate,r_frame_rate,duration:format=duration",
        "-of", "json", input,
      ], installation: FFmpeg.installation)
    child.timeLimit = .seconds(60)
    var bytes: [UInt8] = []
    let ending = try child.run { if bytes.count < 1 << 20 { bytes.append(contentsOf: $0) } }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard ending.status == 0, let facts = try? decoder.decode(Facts.self, from: Data(bytes))
    else {
      let reason = ending.messages.last.map { FFmpeg.plain($0, input: input) }
      throw GraftError(
        .badData, "the file cannot be read as a video: \(reason ?? "status \(ending.status)")",
        fix: "Check that it plays, or convert it to MP4")
    }
    return facts
  }
}
