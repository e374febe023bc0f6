import GraftDiagnostics
import GraftTensor

/// How a recording of any length becomes a model's input: its beginning, followed by silence where it is
/// too short.
public struct RecordingPreprocessing: Sendable, Equatable, Codable {
  public enum Layout: String, Sendable, Codable, CaseIterable {
    /// [1, samples]
    case samples
    /// [1, 1, samples]
    case channelsFirst
    /// [1, samples, 1]
    case channelsLast
  }

  /// Samples per second.
  public var sampleRate: Int
  /// How much of a recording is used.
  public var seconds: Double
  public var layout: Layout

  public init(sampleRate: Int = 16_000, seconds: Double, layout: Layout = .samples) {
    self.sampleRate = sampleRate
    self.seconds = seconds
    self.layout = layout
  }

  /// - Throws: `invalidArgument` when the numbers make no recording.
  public func check() throws {
    let length = seconds * Double(sampleRate)
    guard sampleRate > 0, length >= 1, length <= 1e9 else {
      throw GraftError(
        .invalidArgument,
        "\(seconds) seconds at \(sampleRate) samples per second make no recording",
        fix: "Choose a rate and a duration above 0")
    }
  }

  /// A decoder of what is needed, which takes short and silent recordings as well.
  ///
  /// - Parameter stretch: how much more of the recording is needed, when it will be made faster.
  public func decoder(stretch: Double = 1) -> AudioDecoder {
    var check = RecordingCheck(minimumDuration: .zero)
    check.silentPeak = 0
    var decoder = AudioDecoder(sampleRate: sampleRate, check: check)
    decoder.maximumDuration = .seconds(seconds * max(1, stretch))
    return decoder
  }

  /// The model's input, float32.
  ///
  /// - Parameter recording: with this sample rate.
  /// - Throws: `invalidArgument` when a number makes no sense, or the recording has another rate.
  public func tensor(_ recording: Recording) throws -> Tensor {
    try check()
    guard recording.sampleRate == sampleRate else {
      throw GraftError(
        .invalidArgument,
        "the recording has \(recording.sampleRate) samples per second, not \(sampleRate)",
        at: [recording.name], fix: "Decode it with 'decoder()'")
    }
    let length = Int((seconds * Double(sampleRate)).rounded())
    var samples = Array(recording.samples.prefix(length))
    samples += [Float](repeating: 0, count: length - samples.count)
    let shape: Shape =
      switch layout {
      case .samples: [1, length]
      case .channelsFirst: [1, 1, length]
      case .channelsLast: [1, length, 1]
      }
    return try Tensor(samples, shape: shape)
  }
}
