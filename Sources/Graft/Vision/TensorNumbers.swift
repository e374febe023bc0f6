import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

extension FeatureQuantization {
  /// The nearest integer for a number.
  func quantized(_ value: Float) -> Int {
    let grid = (value / scale).rounded() + Float(zeroPoint)
    return grid.isFinite ? Int(min(max(grid, -1e6), 1e6)) : zeroPoint
  }
}

extension FeatureNormalization {
  /// For red, green and blue.
  func forThree(_ values: [Float]) -> [Float] {
    values.count >= 3 ? Array(values.prefix(3)) : [Float](repeating: values.first ?? 0, count: 3)
  }
}

extension Model {
  /// Samples per second of the sound that the model takes; nil when it does not say.
  var soundSampleRate: Int? { metadata["graft.audio.sampleRate"].flatMap { Int($0) } }
}

extension Tensor {
  /// The elements as numbers; those of quantized tensors stand for (integer - zero point) * scale.
  ///
  /// - Throws: `typeMismatch` for other types than numbers.
  func scores(_ quantization: FeatureQuantization?) throws -> [Double] {
    if let numbers { return numbers }
    guard let integers else {
      throw GraftError(.typeMismatch, "an output of \(elementType) holds no scores")
    }
    guard let quantization else { return integers.map(Double.init) }
    return integers.map {
      Double(Float($0 - quantization.zeroPoint) * quantization.scale)
    }
  }
}
