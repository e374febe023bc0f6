import Foundation
import GraftGraph

extension Model {
  /// The names of the classes, in the order of the output's scores; nil when the model has none.
  ///
  /// They are kept in the file's metadata under `labels`, as a JSON array.
  public var labels: [String]? {
    get {
      metadata["labels"].flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
    }
    set {
      metadata["labels"] = newValue.flatMap {
        (try? JSONEncoder().encode($0)).map { String(decoding: $0, as: UTF8.self) }
      }
    }
  }
}
