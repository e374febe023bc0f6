import Foundation
import GraftDiagnostics

/// Sound: one channel of samples, and where it is from.
public struct Recording: Sendable {
  /// The samples, -1 to 1.
  public let samples: [Float]
  /// Samples per second.
  public let sampleRate: Int
  /// The file or device it comes from, for messages.
  public let name: String
  /// What is doubtful about it, one sentence each; empty when nothing is.
  public internal(set) var warnings: [String] = []

  public init(samples: [Float], sampleRate: Int, name: String) {
    self.samples = samples
    self.sampleRate = sampleRate
    self.name = name
  }

  /// Decodes the first sound track of any audio or video file to 16 kHz, all channels mixed.
  ///
  /// - Throws: as `AudioDecoder.decode`.
  public init(contentsOf url: URL) throws {
    self = try AudioDecoder().decode(url)
  }

  /// How long it lasts.
  public var duration: Duration {
    sampleRate > 0 ? .seconds(Double(samples.count) / Double(sampleRate)) : .zero
  }

  /// The largest absolute value among the samples.
  public var peak: Float { samples.reduce(0) { max($0, abs($1)) } }
}
