import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph

/// Classifiers in files: safetensors, with the rest as JSON in the metadata.
public enum ClassifierFile {
  private static let format = "graft-classifier-1"

  private static let kinds: [any FeatureClassifier.Type] = [
    LogisticRegression.self, LinearClassifier.self, MultilayerPerceptron.self,
    NearestNeighbors.self, NearestMean.self,
  ]

  /// Reads a classifier of any kind.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the file is no classifier's or its parts do
  ///   not fit each other; `unsupported` for a kind that this version does not know.
  public static func read(_ url: URL) throws -> any FeatureClassifier {
    let file = try SafetensorsFile(path: url.path)
    return try locating(url.path) {
      let contents = try contents(of: file)
      guard let type = kinds.first(where: { $0.kind == contents.kind }) else {
        throw GraftError(
          .unsupported, "there is no kind of classifier '\(contents.kind)'",
          fix: didYouMean(contents.kind, among: kinds.map { $0.kind }))
      }
      try contents.requireDistinctClasses()
      return try type.init(contents)
    }
  }

  private static func contents(of file: SafetensorsFile) throws -> ClassifierContents {
    let metadata = file.metadata
    guard metadata["format"] == format, let kind = metadata["kind"],
      let settings = metadata["settings"], let names = metadata["classes"]
    else {
      throw GraftError(
        .damaged, "the file holds no classifier",
        fix: "Choose a file that a classifier was written to")
    }
    guard let classes = try? JSONDecoder().decode([ClassLabel].self, from: Data(names.utf8)) else {
      throw GraftError(.damaged, "the classes are no JSON array of strings or integers")
    }
    return ClassifierContents(
      kind: kind, classes: classes, settings: Data(settings.utf8), tensors: file.tensors)
  }

  /// Writes a classifier, replacing a file that is there only when all has been written.
  ///
  /// - Throws: `badData` before the classifier has learned, `inputOutput`.
  public static func write(_ classifier: some FeatureClassifier, to url: URL) throws {
    let contents = try classifier.contents
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let classes = try encoder.encode(contents.classes)
    let metadata = [
      "format": format, "kind": contents.kind, "classes": String(decoding: classes, as: UTF8.self),
      "settings": String(decoding: contents.settings, as: UTF8.self),
    ]
    try SafetensorsFile.write(contents.tensors, metadata: metadata, to: url.path)
  }
}
