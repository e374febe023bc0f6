import Foundation
import GraftDiagnostics
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftMedia

struct AudioAugmentationTests {
  /// One second of a tone at half of full scale.
  private func tone(_ frequency: Double) -> Recording {
    Recording(
      samples: (0..<16_000).map { Float(0.5 * sin(2 * .pi * frequency * Double($0) / 16_000)) },
      sampleRate: 16_000, name: "tone")
  }

  private func varied(
    _ recording: Recording, seed: UInt64 = 1, _ change: (inout AudioAugmentation) -> Void
  ) throws -> [Float] {
    var augmentation = AudioAugmentation()
    change(&augmentation)
    var generator = SeededGenerator(seed: seed)
    return try augmentation.applied(to: recording, using: &generator).samples
  }

  @Test func `nothing changes by default`() throws {
    #expect(try varied(tone(440)) { _ in } == tone(440).samples)
  }

  @Test(arguments: [0.5, 0.9, 1.1, 2])
  func `a tone that is played faster is higher and shorter, as loud as before`(speed: Double)
    throws
  {
    let samples = try varied(tone(440)) { $0.speed = speed...speed }
    #expect(samples.count == Int((16_000 / speed).rounded()))
    let middle = Array(samples[100..<samples.count - 100])
    #expect(abs(middle.amplitude(of: 440 * speed) - 0.5) < 0.005)
    for (index, sample) in middle.enumerated() {
      let expected = 0.5 * sin(2 * .pi * 440 * speed * Double(index + 100) / 16_000)
      #expect(abs(Double(sample) - expected) < 0.003)
      if abs(Double(sample) - expected) >= 0.003 { break }
    }
  }

  @Test func `what would be too high to hold is left out`() throws {
    let samples = try varied(tone(6_000)) { $0.speed = 2...2 }
    #expect(samples[200..<samples.count - 200].allSatisfy { abs($0) < 0.01 })
  }

  @Test func `gain is in decibels and stops at full scale`() throws {
    let quiet = try varied(tone(440)) { $0.gain = -6.0206 ... -6.0206 }
    for (changed, sample) in zip(quiet, tone(440).samples) {
      #expect(abs(changed - sample / 2) < 1e-5)
      if abs(changed - sample / 2) >= 1e-5 { break }
    }
    let loud = try varied(tone(440)) { $0.gain = 20...20 }
    #expect(loud.max() == 1 && loud.min() == -1)
  }

  @Test func `noise is as strong as asked for, and silence stays silent`() throws {
    let original = tone(440).samples
    let noisy = try varied(tone(440)) { $0.signalToNoise = 20...20 }
    func power(_ samples: [Float]) -> Double {
      samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    }
    let ratio = 10 * log10(power(original) / power(zip(noisy, original).map { $0 - $1 }))
    #expect(abs(ratio - 20) < 0.3)
    let silence = Recording(samples: [0, 0, 0], sampleRate: 16_000, name: "silence")
    #expect(try varied(silence) { $0.signalToNoise = 0...0 } == [0, 0, 0])
  }

  @Test func `a shift brings silence in`() {
    let samples: [Float] = [1, 2, 3, 4]
    #expect(samples.moved(by: 1) == [0, 1, 2, 3])
    #expect(samples.moved(by: -3) == [4, 0, 0, 0])
    #expect(samples.moved(by: 4) == [0, 0, 0, 0])
    #expect([Float]().moved(by: 2) == [])
  }

  @Test func `a seed gives the same samples, another seed others`() throws {
    var generators = [SeededGenerator(seed: 4), SeededGenerator(seed: 4), SeededGenerator(seed: 5)]
    let results = try generators.indices.map {
      try AudioAugmentation.sounds.applied(to: tone(440), using: &generators[$0]).samples
    }
    #expect(results[0] == results[1])
    #expect(results[0] != results[2])
  }

  @Test func `an empty recording stays empty`() throws {
    let empty = Recording(samples: [], sampleRate: 16_000, name: "empty")
    var generator = SeededGenerator(seed: 1)
    #expect(
      try AudioAugmentation.sounds.applied(to: empty, using: &generator).samples.isEmpty)
  }

  @Test func `numbers out of range are refused`() {
    func expectRefused(_ text: String, _ change: (inout AudioAugmentation) -> Void) {
      expectError(.invalidArgument, text) { _ = try varied(tone(440), change) }
    }
    expectRefused("speed") { $0.speed = 0.1...1 }
    expectRefused("shift") { $0.shift = .nan }
    expectRefused("gain") { $0.gain = -100...0 }
    expectRefused("ratio") { $0.signalToNoise = 0...200 }
  }
}
