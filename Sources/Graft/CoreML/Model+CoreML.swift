import Foundation
import GraftFormats
import GraftGraph

extension Model {
  /// What the Core ML file that the model comes from says about features, classes and updates; nil
  /// for other models.
  ///
  /// It is kept in the file's metadata under `coreml.description`, as JSON.
  public var coreML: CoreMLDescription? {
    get {
      metadata[CoreMLReader.metadataKey].flatMap {
        try? JSONDecoder().decode(CoreMLDescription.self, from: Data($0.utf8))
      }
    }
    set {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      metadata[CoreMLReader.metadataKey] = newValue.flatMap {
        (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) }
      }
    }
  }
}
