import Foundation
import GraftGraph
import GraftMedia

extension Model {
  private static let preprocessingKey = "graft.picture.preprocessing"

  /// How pictures become the model's input; nil when the model does not say.
  ///
  /// It is kept in the file's metadata under `graft.picture.preprocessing`, as JSON. A file without it
  /// may still say how its input's values are normalized; pictures are then stretched to its size.
  public var picturePreprocessing: PicturePreprocessing? {
    get {
      metadata[Self.preprocessingKey].flatMap {
        try? JSONDecoder().decode(PicturePreprocessing.self, from: Data($0.utf8))
      } ?? declaredPreprocessing
    }
    set {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      metadata[Self.preprocessingKey] = newValue.flatMap {
        (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  private var declaredPreprocessing: PicturePreprocessing? {
    guard let shape = try? PictureShape(self),
      let normalization = shape.feature.normalizationOfBytes
    else { return nil }
    return try? PictureInput.standard(shape, normalization)
  }
}

extension Feature {
  /// How bytes become the real numbers that the feature stands for; nil when the model does not say.
  fileprivate var normalizationOfBytes: FeatureNormalization? {
    guard case .tensor(.uint8, _) = type, let quantization else { return normalization }
    return FeatureNormalization(
      mean: [Float(quantization.zeroPoint)], deviation: [1 / quantization.scale])
  }
}
