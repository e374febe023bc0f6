import Foundation
import GraftMedia

/// Whether the people to recognise and the others sound as if they were recorded with different
/// equipment, so that a model would learn the microphone instead of the voice.
///
/// Two properties tell channels apart more than voices: how much of the sound lies above 4.4 kHz, and
/// how far the quietest parts lie below the loud ones. Each speaker has the median of their
/// recordings; a person differs when theirs lies far outside the range of the others'.
struct ChannelDifference {
  /// What to tell the user; nil when the recordings sound alike.
  let warning: String?

  /// In decibels. No two of the speakers this was measured on differ by more than 14.
  private static let bandGap = 17.0
  private static let noiseGap = 10.0
  /// A range below this is that of a noisy recording.
  private static let noisyRange = 12.0

  init(people: [[Recording]], others: [[Recording]]) {
    let mine = people.compactMap(Channel.init)
    let theirs = others.compactMap(Channel.init)
    let lacksBand = mine.contains {
      Self.gap($0.highBand, theirs.map(\.highBand)) >= Self.bandGap
    }
    let isNoisy = mine.contains { person in
      let ranges = theirs.map(\.range)
      let noisier = min(person.range, ranges.max() ?? person.range)
      return Self.gap(person.range, ranges) >= Self.noiseGap && noisier < Self.noisyRange
    }
    let findings =
      (lacksBand ? ["high frequencies are missing in one of them"] : [])
      + (isNoisy ? ["one of them is much noisier"] : [])
    warning =
      findings.isEmpty
      ? nil
      : "the recordings of the people to recognise and of the others seem to come from different "
        + "microphones or lines (\(findings.joined(separator: ", "))): the model may learn the "
        + "channel instead of the voice; record both with the same microphone"
  }

  /// How far a value lies outside the range of others; 0 within it.
  private static func gap(_ value: Double, _ others: [Double]) -> Double {
    guard let low = others.min(), let high = others.max() else { return 0 }
    return max(0, low - value, value - high)
  }
}

/// What a speaker's recordings tell of their channel, in decibels.
private struct Channel {
  /// Mean power from 4.4 to 7.6 kHz over that from 0.3 to 3.4 kHz, in the loud frames.
  let highBand: Double
  /// The power of the loud frames over the power that nine tenths of all frames exceed.
  let range: Double

  /// Nil when there is no sound in the recordings.
  init?(_ recordings: [Recording]) {
    let spectra = recordings.compactMap { Spectrum($0.samples) }
    guard !spectra.isEmpty else { return nil }
    highBand = Self.median(spectra.map(\.highBand))
    range = Self.median(spectra.map(\.range))
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}

/// The spectrum of one recording, on frames of 25 ms.
private struct Spectrum {
  let highBand: Double
  let range: Double

  private static let frameLength = 400
  /// Loud frames looked at; more would not change a mean.
  private static let mostFrames = 100

  init?(_ samples: [Float]) {
    let count = samples.count / Self.frameLength
    let energies = (0..<count).map { frame in
      samples[frame * Self.frameLength..<(frame + 1) * Self.frameLength]
        .reduce(0.0) { $0 + Double($1 * $1) }
    }
    let sorted = energies.sorted()
    guard count >= 10, sorted[count * 95 / 100] > 0 else { return nil }
    let reference = sorted[count * 95 / 100]
    let loud = energies.indices.filter { energies[$0] >= reference / 100 }
    let heard = sorted.filter { $0 > reference * 1e-7 }
    let meanLoud = loud.reduce(0) { $0 + energies[$1] } / Double(loud.count)
    range = min(30, 10 * log10(meanLoud / heard[heard.count / 10]))
    var low = 1e-30
    var high = 1e-30
    for position in stride(from: 0, to: loud.count, by: max(1, loud.count / Self.mostFrames)) {
      let start = loud[position] * Self.frameLength
      let frame = zip(samples[start..<start + Self.frameLength], Self.hann).map { Double($0) * $1 }
      low += Self.power(frame, from: 300, to: 3400)
      high += Self.power(frame, from: 4400, to: 7600)
    }
    highBand = 10 * log10(high / low)
  }

  /// The mean power between two frequencies, in steps of 80 Hz, by Goertzel's recurrence.
  private static func power(_ frame: [Double], from low: Double, to high: Double) -> Double {
    let frequencies = stride(from: low, through: high, by: 80)
    var count = 0.0
    var sum = 0.0
    for frequency in frequencies {
      let coefficient = 2 * cos(2 * .pi * frequency / Double(VoiceModel.sampleRate))
      var last = 0.0
      var beforeLast = 0.0
      for sample in frame {
        (last, beforeLast) = (sample + coefficient * last - beforeLast, last)
      }
      sum += last * last + beforeLast * beforeLast - coefficient * last * beforeLast
      count += 1
    }
    return sum / count
  }

  private static let hann = (0..<frameLength).map {
    0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(frameLength))
  }
}
