import Foundation
import GraftMedia

/// Whether two groups of recordings sound as if they were made with different equipment, so that a
/// model would learn the microphone instead of the voice.
///
/// Two properties that depend on the channel more than on the speaker are measured: how much weaker
/// the band from 4 to 7 kHz is than that from 0.3 to 3 kHz, and how far the quietest parts lie below
/// the loudest. Groups differ when one property's medians lie far apart and hardly any two
/// recordings of different groups lie on the wrong side of each other.
struct ChannelDifference {
  /// What to tell the user; nil when the groups sound alike.
  let warning: String?

  private static let bandLimit = 20.0
  private static let noiseLimit = 20.0

  init(_ first: [Recording], _ second: [Recording]) {
    let a = first.compactMap { Channel($0.samples) }
    let b = second.compactMap { Channel($0.samples) }
    let findings = [
      Self.differ(a.map(\.bandDrop), b.map(\.bandDrop), Self.bandLimit)
        ? "one group lacks the high frequencies that the other has" : nil,
      Self.differ(a.map(\.range), b.map(\.range), Self.noiseLimit)
        ? "the background noise of one group is much stronger" : nil,
    ].compactMap { $0 }
    warning =
      findings.isEmpty
      ? nil
      : "the recordings of the people to recognise and those of the others were made under "
        + "different conditions (\(findings.joined(separator: "; "))): the model may learn the "
        + "microphone instead of the voice; record both with the same one"
  }

  private static func differ(_ a: [Double], _ b: [Double], _ limit: Double) -> Bool {
    guard !a.isEmpty, !b.isEmpty, abs(median(a) - median(b)) > limit else { return false }
    let isAbove = median(a) > median(b)
    let wrong = a.reduce(0) { count, x in count + b.count { isAbove ? $0 >= x : $0 <= x } }
    return Double(wrong) < 0.05 * Double(a.count * b.count)
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}

/// What a recording tells of its channel, in decibels.
private struct Channel {
  /// Power from 0.3 to 3 kHz over that from 4 to 7 kHz.
  let bandDrop: Double
  /// The loudness exceeded by a tenth of the frames over that exceeded by nine tenths.
  let range: Double

  private static let frameLength = 400
  private static let mostFrames = 60
  /// One probe every 100 Hz.
  private static let lowBand = Array(stride(from: 300.0, through: 3000, by: 100))
  private static let highBand = Array(stride(from: 4000.0, through: 7000, by: 100))

  /// Nil when there is no sound in it.
  init?(_ samples: [Float]) {
    let count = samples.count / Self.frameLength
    guard count >= 10 else { return nil }
    let levels = (0..<count).map { frame -> Double in
      let part = samples[frame * Self.frameLength..<(frame + 1) * Self.frameLength]
      return part.reduce(0) { $0 + Double($1 * $1) } / Double(Self.frameLength)
    }
    let sorted = levels.sorted()
    let quiet = sorted[count / 10]
    let loud = sorted[count * 9 / 10]
    guard loud > 0 else { return nil }
    // Digital silence has no noise to measure; 90 dB is what 16 bits leave.
    range = min(90, 10 * log10(loud / max(quiet, 1e-30)))
    var low = 0.0
    var high = 0.0
    let loudest = levels.indices.filter { levels[$0] >= sorted[count / 2] }
    for index in stride(from: 0, to: loudest.count, by: max(1, loudest.count / Self.mostFrames)) {
      let start = loudest[index] * Self.frameLength
      let frame = samples[start..<start + Self.frameLength]
      low += Self.power(frame, Self.lowBand)
      high += Self.power(frame, Self.highBand)
    }
    bandDrop = min(90, 10 * log10(low / max(high, 1e-30)))
  }

  /// The mean power at the given frequencies, by Goertzel's recurrence over a Hann window.
  private static func power(_ frame: ArraySlice<Float>, _ frequencies: [Double]) -> Double {
    let windowed = zip(frame, hann).map { Double($0) * $1 }
    return frequencies.reduce(0) { sum, frequency in
      let coefficient = 2 * cos(2 * .pi * frequency / Double(VoiceModel.sampleRate))
      var last = 0.0
      var beforeLast = 0.0
      for sample in windowed {
        (last, beforeLast) = (sample + coefficient * last - beforeLast, last)
      }
      return sum + last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    } / Double(frequencies.count)
  }

  private static let hann = (0..<frameLength).map {
    0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(frameLength))
  }
}
