import Foundation
import GraftDiagnostics
import GraftTensor

/// Random changes of recordings while training; each is off until it is given a range.
///
/// They are done in the order of the properties, and every change draws its numbers whether it is on
/// or not. The same generator gives the same samples.
public struct AudioAugmentation: Sendable, Equatable, Codable {
  /// Played faster by a factor from this range, inside 0.5 to 2; the pitch rises with it, and the
  /// recording becomes shorter.
  public var speed = 1.0...1.0
  /// Moved by up to this part of the length, 0 to 1, to either side; silence comes in, what leaves
  /// is lost.
  public var shift = 0.0
  /// Louder by decibels from this range, inside -60 to 60; samples beyond full scale are cut.
  public var gain = 0.0...0.0
  /// White noise, so many decibels below the recording's mean power, from this range inside -20 to
  /// 100; nil for none.
  public var signalToNoise: ClosedRange<Double>?

  /// Nothing changes.
  public init() {}

  /// What suits most sounds: speed 0.9 to 1.1, a shift of 0.1, gain of 6 dB to either side, noise
  /// 15 to 40 dB below.
  public static let sounds: AudioAugmentation = {
    var augmentation = AudioAugmentation()
    augmentation.speed = 0.9...1.1
    augmentation.shift = 0.1
    augmentation.gain = -6...6
    augmentation.signalToNoise = 15...40
    return augmentation
  }()

  /// - Throws: `invalidArgument` when a number is out of its range.
  public func check() throws {
    func require(_ range: ClosedRange<Double>, inside: ClosedRange<Double>, _ name: String) throws {
      guard inside.contains(range.lowerBound), inside.contains(range.upperBound) else {
        throw GraftError(
          .invalidArgument, "the \(name) of the augmentation is \(range)",
          fix: "Choose \(inside.lowerBound) to \(inside.upperBound)")
      }
    }
    try require(speed, inside: 0.5...2, "speed")
    guard (0...1).contains(shift) else {
      throw GraftError(
        .invalidArgument, "the shift of the augmentation is \(shift)", fix: "Choose 0 to 1")
    }
    try require(gain, inside: -60...60, "gain")
    if let signalToNoise {
      try require(signalToNoise, inside: -20...100, "ratio of signal to noise")
    }
  }

  /// A changed recording; its length changes only by `speed`.
  ///
  /// - Throws: `invalidArgument` when a number is out of its range.
  public func applied(to recording: Recording, using generator: inout SeededGenerator) throws
    -> Recording
  {
    try check()
    func between(_ range: ClosedRange<Double>) -> Double {
      range.lowerBound + generator.uniform() * (range.upperBound - range.lowerBound)
    }
    let factor = between(speed)
    let part = between(-shift...shift)
    let decibels = between(gain)
    let ratio = between(signalToNoise ?? 0...0)
    var samples = recording.samples
    if factor != 1 { samples = samples.played(faster: factor) }
    if part != 0 { samples = samples.moved(by: Int((part * Double(samples.count)).rounded())) }
    if decibels != 0 {
      let factor = Float(pow(10, decibels / 20))
      samples = samples.map { min(max($0 * factor, -1), 1) }
    }
    if signalToNoise != nil { samples.addNoise(decibelsBelow: ratio, using: &generator) }
    var result = Recording(
      samples: samples, sampleRate: recording.sampleRate, name: recording.name)
    result.warnings = recording.warnings
    return result
  }
}

extension [Float] {
  /// The same sound in 1 / factor of the time, with a windowed sinc that lets nothing through that
  /// the samples could not hold.
  func played(faster factor: Double) -> [Float] {
    let newCount = Int((Double(count) / factor).rounded())
    // Up to the lower of both limits of frequency; 16 zero crossings to either side.
    let cutoff = Swift.min(1, 1 / factor)
    let reach = 16 / cutoff
    return (0..<newCount).map { index in
      let center = Double(index) * factor
      let first = Swift.max(0, Int((center - reach).rounded(.up)))
      let last = Swift.min(count - 1, Int((center + reach).rounded(.down)))
      guard first <= last else { return 0 }
      var sum = 0.0
      for place in first...last {
        let distance = Double(place) - center
        let angle = Double.pi * distance * cutoff
        let sinc = abs(angle) < 1e-9 ? 1 : sin(angle) / angle
        sum += Double(self[place]) * cutoff * sinc * (0.5 + 0.5 * cos(.pi * distance / reach))
      }
      return Float(sum)
    }
  }

  /// Moved to later samples, or to earlier ones for negative numbers, with silence coming in.
  func moved(by offset: Int) -> [Float] {
    indices.map { indices.contains($0 - offset) ? self[$0 - offset] : 0 }
  }

  /// Adds white noise, `decibels` below the mean power of the samples; silence stays as it is.
  mutating func addNoise(decibelsBelow decibels: Double, using generator: inout SeededGenerator) {
    let power = reduce(0.0) { $0 + Double($1) * Double($1) } / Double(Swift.max(1, count))
    let deviation = (power * pow(10, -decibels / 10)).squareRoot()
    guard deviation > 0 else { return }
    for index in indices {
      let changed = Double(self[index]) + deviation * generator.normal()
      self[index] = Float(Swift.min(Swift.max(changed, -1), 1))
    }
  }
}
