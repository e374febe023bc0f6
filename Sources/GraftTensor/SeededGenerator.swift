#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A seeded generator of random numbers: the same seed gives the same numbers everywhere.
///
/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable, Equatable {
  /// The whole state; a generator made from it goes on where this one is.
  public private(set) var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// The generator after `count` more numbers; constant time.
  package func advanced(by count: Int) -> SeededGenerator {
    SeededGenerator(
      seed: state &+ UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15)
  }

  /// A number from 0 up to but not including 1.
  public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number from the standard normal distribution (Box and Muller, 1958).
  public mutating func normal() -> Double {
    let radius = (-2 * log(1 - uniform())).squareRoot()
    return radius * cos(2 * .pi * uniform())
  }
}
