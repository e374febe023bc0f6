import Foundation
import GraftMedia
import GraftTestSupport
import Testing

/// Sound and video files made by ffmpeg for one test, in a folder of its own.
struct SoundFiles {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static let isInstalled =
    (try? ChildProcess("ffmpeg", ["-version"]).run().status == 0) ?? false
  static let reason: Comment = "needs ffmpeg: apt-get install ffmpeg"

  /// Three seconds of a tone of 440 Hz at an eighth of full scale.
  static let tone = ["-f", "lavfi", "-i", "sine=frequency=440:duration=3:sample_rate=44100"]
  /// Three seconds of a test picture.
  static let picture = ["-f", "lavfi", "-i", "testsrc=duration=3:size=64x64:rate=10"]

  func url(_ name: String) -> URL { folder.url.appending(path: name) }

  /// Runs ffmpeg with these options to make a file of that name.
  func make(_ name: String, _ options: [String]) throws -> URL {
    let url = url(name)
    let ending = try ChildProcess(
      "ffmpeg", ["-nostdin", "-y", "-loglevel", "error"] + options + ["file:" + url.path]
    ).run()
    try #require(ending.status == 0, "\(ending.messages)")
    return url
  }

  /// A recording from an expression of the time t in ffmpeg's notation, one for each channel.
  func make(_ name: String, wave: String, rate: Int = 16_000, codec: String = "pcm_s16le") throws
    -> URL
  {
    try make(name, ["-f", "lavfi", "-i", "aevalsrc=\(wave):d=3:s=\(rate)", "-c:a", codec])
  }
}

extension [Float] {
  /// The strength of a frequency, 1 for a full-scale sine.
  func amplitude(of frequency: Double, rate: Double = 16_000) -> Double {
    var (cosine, sine) = (0.0, 0.0)
    for (index, sample) in enumerated() {
      let phase = 2 * Double.pi * frequency * Double(index) / rate
      cosine += Double(sample) * cos(phase)
      sine += Double(sample) * sin(phase)
    }
    return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(count)
  }
}
