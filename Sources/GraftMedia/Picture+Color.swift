import Foundation
import GraftTensor

extension Picture {
  /// More or less light: values * 2^(stops / 2.2), since they stand for light to the power 1 / 2.2.
  func exposed(stops: Double) throws -> Picture {
    let factor = pow(2, stops / 2.2)
    let table = (0..<256).map { UInt8(clamping: Int((Double($0) * factor).rounded())) }
    return try changing { table[Int($0)] }
  }

  /// Mixed with its grey picture, beyond it for factors above 1. Grey is ITU-R 601 luma, the integer
  /// that Pillow's conversion to `L` gives.
  func saturated(by factor: Double) throws -> Picture {
    try changingColors { color in
      let luma = 19_595 * Int(color[0]) + 38_470 * Int(color[1]) + 7_471 * Int(color[2]) + 32_768
      let grey = SIMD3(repeating: Float(luma >> 16))
      return grey + Float(factor) * (color - grey)
    }
  }

  /// Colours turned about grey, as `hueRotate` of W3C Filter Effects.
  func turningHue(degrees: Double) throws -> Picture {
    let angle = degrees * .pi / 180
    let (c, s) = (Float(cos(angle)), Float(sin(angle)))
    let luma = SIMD3<Float>(0.213, 0.715, 0.072)
    let rows = [
      luma + c * SIMD3(0.787, -0.715, -0.072) + s * SIMD3(-0.213, -0.715, 0.928),
      luma + c * SIMD3(-0.213, 0.285, -0.072) + s * SIMD3(0.143, 0.140, -0.283),
      luma + c * SIMD3(-0.213, -0.715, 0.928) + s * SIMD3(-0.787, 0.715, 0.072),
    ]
    return try changingColors { color in
      SIMD3((rows[0] * color).sum(), (rows[1] * color).sum(), (rows[2] * color).sum())
    }
  }

  /// Normal noise on every value.
  ///
  /// - Parameter deviation: in parts of full scale.
  func noisy(deviation: Double, using generator: inout SeededGenerator) throws -> Picture {
    var random = generator
    let result = try changing { value in
      let changed = Double(value) + 255 * deviation * random.normal()
      return UInt8(min(max(changed, 0), 255).rounded())
    }
    generator = random
    return result
  }

  /// The picture with a Gaussian blur that reaches to 3 deviations; border pixels are repeated.
  ///
  /// - Parameter deviation: in pixels.
  func blurred(deviation: Double) throws -> Picture {
    let reach = max(1, Int((3 * deviation).rounded(.up)))
    let values = (-reach...reach).map { exp(-Double($0 * $0) / (2 * deviation * deviation)) }
    let sum = values.reduce(0, +)
    let weights = values.map { Float($0 / sum) }
    let inRows = smoothed(
      pixels.map(Float.init), weights, count: width, step: 3, lines: height, lineStep: 3 * width)
    let inBoth = smoothed(
      inRows, weights, count: height, step: 3 * width, lines: width, lineStep: 3)
    return try making(width, height) { pixels, _ in
      for place in pixels.indices {
        pixels[place] = UInt8(min(max(inBoth[place], 0), 255).rounded())
      }
    }
  }

  // MARK: Parts

  /// Lines of three channels with every value replaced by a weighted sum of its neighbours.
  private func smoothed(
    _ source: [Float], _ weights: [Float], count: Int, step: Int, lines: Int, lineStep: Int
  ) -> [Float] {
    let reach = weights.count / 2
    var result = source
    var padded = [SIMD3<Float>](repeating: .zero, count: count + 2 * reach)
    for line in 0..<lines {
      for place in padded.indices {
        let start = line * lineStep + min(max(place - reach, 0), count - 1) * step
        padded[place] = SIMD3(source[start], source[start + 1], source[start + 2])
      }
      for place in 0..<count {
        var sum = SIMD3<Float>.zero
        for (offset, weight) in weights.enumerated() { sum += weight * padded[place + offset] }
        for channel in 0..<3 { result[line * lineStep + place * step + channel] = sum[channel] }
      }
    }
    return result
  }

  private func changing(_ change: (UInt8) -> UInt8) throws -> Picture {
    try making(width, height) { pixels, source in
      for place in pixels.indices { pixels[place] = change(source[place]) }
    }
  }

  private func changingColors(_ change: (SIMD3<Float>) -> SIMD3<Float>) throws -> Picture {
    try making(width, height) { pixels, source in
      for place in stride(from: 0, to: pixels.count, by: 3) {
        let color = SIMD3(
          Float(source[place]), Float(source[place + 1]), Float(source[place + 2]))
        let changed = change(color).clamped(lowerBound: .zero, upperBound: .init(repeating: 255))
        for channel in 0..<3 { pixels[place + channel] = UInt8(changed[channel].rounded()) }
      }
    }
  }
}
