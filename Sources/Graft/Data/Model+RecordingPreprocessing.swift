import Foundation
import GraftGraph
import GraftMedia

extension Model {
  private static let preprocessingKey = "graft.recording.preprocessing"

  /// How recordings become the model's input; nil when the model does not say.
  ///
  /// It is kept in the file's metadata under `graft.recording.preprocessing`, as JSON.
  public var recordingPreprocessing: RecordingPreprocessing? {
    get {
      metadata[Self.preprocessingKey].flatMap {
        try? JSONDecoder().decode(RecordingPreprocessing.self, from: Data($0.utf8))
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
