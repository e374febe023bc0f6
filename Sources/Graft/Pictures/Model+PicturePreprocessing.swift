import Foundation
import GraftGraph
import GraftMedia

extension Model {
  private static let preprocessingKey = "graft.picture.preprocessing"

  /// How pictures become the model's input; nil when the model does not say.
  ///
  /// It is kept in the file's metadata under `graft.picture.preprocessing`, as JSON.
  public var picturePreprocessing: PicturePreprocessing? {
    get {
      metadata[Self.preprocessingKey].flatMap {
        try? JSONDecoder().decode(PicturePreprocessing.self, from: Data($0.utf8))
      }
    }
    set {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      metadata[Self.preprocessingKey] = newValue.flatMap {
        (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) }
      }
    }
  }
}
