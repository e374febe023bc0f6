import GraftDiagnostics
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Triangular filters evenly spaced on Slaney's mel scale, each of unit area.
///
/// The scale is linear below 1000 Hz, 15 mels there, and logarithmic above, 27 mels per factor of
/// 6.4 (Slaney: Auditory Toolbox, 1998).
struct MelFilterBank {
  /// [bins, bands].
  let weights: Tensor

  /// - Parameters:
  ///   - sampleRate: samples per second.
  ///   - windowLength: samples per spectrum; there are half as many bins plus one.
  ///   - bands: how many filters, from 0 to half the sample rate.
  init(sampleRate: Double, windowLength: Int, bands: Int) throws {
    let binCount = windowLength / 2 + 1
    let top = Self.mel(sampleRate / 2)
    let edges = (0..<bands + 2).map { Self.frequency(top * Double($0) / Double(bands + 1)) }
    var values: [Float] = []
    for bin in 0..<binCount {
      let frequency = Double(bin) * sampleRate / Double(windowLength)
      for band in 0..<bands {
        let (low, middle, high) = (edges[band], edges[band + 1], edges[band + 2])
        let rise = (frequency - low) / (middle - low)
        let fall = (high - frequency) / (high - middle)
        values.append(Float(max(0, min(rise, fall)) * 2 / (high - low)))
      }
    }
    weights = try Tensor(values, shape: [binCount, bands])
  }

  private static let linearStep = 200.0 / 3
  private static let breakFrequency = 1000.0
  private static let breakMel = breakFrequency / linearStep
  private static let logStep = log(6.4) / 27

  private static func mel(_ frequency: Double) -> Double {
    frequency < breakFrequency
      ? frequency / linearStep : breakMel + log(frequency / breakFrequency) / logStep
  }

  private static func frequency(_ mel: Double) -> Double {
    mel < breakMel ? mel * linearStep : breakFrequency * exp(logStep * (mel - breakMel))
  }
}
