import GraftDiagnostics

/// Tells whether a recording can be used: errors for those that cannot, warnings for doubtful ones.
public struct RecordingCheck: Sendable {
  /// Shorter recordings are refused.
  public var minimumDuration: Duration = .seconds(1)
  /// Recordings whose peak is below this are silent: 0.001 is -60 dB of full scale, below the noise
  /// of any microphone that someone speaks into.
  public var silentPeak: Float = 0.001
  /// Samples from here on are at full scale; a decoder may round below 1.
  public var fullScale: Float = 0.999
  /// From this share of samples at full scale on, a recording counts as clipped. Speech that just
  /// reaches full scale stays well below.
  public var clippedShare = 0.001

  public init(minimumDuration: Duration = .seconds(1)) {
    self.minimumDuration = minimumDuration
  }

  /// Checks a recording.
  ///
  /// - Returns: the recording, with a warning when it is clipped.
  /// - Throws: `badData` when it is empty, too short, silent or holds values that are no numbers.
  public func checked(_ recording: Recording) throws -> Recording {
    try locating(recording.name) {
      let samples = recording.samples
      guard !samples.isEmpty else {
        throw GraftError(
          .badData, "the recording is empty", fix: "Record again, at least \(needed)")
      }
      guard recording.duration >= minimumDuration else {
        throw GraftError(
          .badData, "the recording lasts \(Self.text(recording.duration)), and \(needed) is needed",
          fix: "Record again, at least \(needed)")
      }
      guard samples.allSatisfy(\.isFinite) else {
        throw GraftError(
          .badData, "the recording holds samples that are no numbers",
          fix: "Convert or record it again")
      }
      guard recording.peak >= silentPeak else {
        throw GraftError(
          .badData, "the recording is silent",
          fix: "Check that the right microphone was on, and record again")
      }
    }
    var result = recording
    let clipped = recording.samples.count { abs($0) >= fullScale }
    let share = Double(clipped) / Double(recording.samples.count)
    if share >= clippedShare {
      let percent = (share * 1000).rounded() / 10
      result.warnings.append(
        "\(recording.name): the recording is clipped, \(percent) % of it is at full scale; "
          + "record with less gain or further from the microphone")
    }
    return result
  }

  private var needed: String { Self.text(minimumDuration) }

  /// Seconds with two digits at most.
  private static func text(_ duration: Duration) -> String {
    let hundredths = (duration / .seconds(1) * 100).rounded() / 100
    return hundredths == hundredths.rounded() ? "\(Int(hundredths)) s" : "\(hundredths) s"
  }
}
