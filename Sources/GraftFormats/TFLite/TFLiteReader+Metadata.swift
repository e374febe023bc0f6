import Foundation
import GraftDiagnostics
import GraftGraph

extension TFLiteReader {
  /// Keys of `Model.metadata`.
  private static let metadataKey = "tflite.metadata"
  private static let fileKey = "tflite.file."
  /// What follows is the name of a file that the model lacks, with the reason.
  private static let unreadKey = "tflite.unread."
  private static let labelsKey = "labels"

  /// The largest file behind a model that is kept.
  private static let largestFile = 1 << 24

  /// Takes over what a file says about its inputs and outputs, and the text files behind it.
  static func readMetadata(_ file: TFLiteFile, into model: inout Model) throws {
    var metadata: TFLiteMetadata?
    if let entry = file.metadata.first(where: { $0.name == TFLiteMetadata.bufferName }) {
      metadata = try locating("the metadata") { try TFLiteMetadata(entry.bytes) }
    }
    var unread: [String: String] = [:]
    let texts = texts(in: file, unread: &unread)
    for (name, text) in texts { model.metadata[fileKey + name] = text }
    for named in metadata?.allFiles ?? [] where texts[named.name] == nil {
      unread[named.name] = unread[named.name] ?? "it is not in the archive behind the model"
    }
    for (name, reason) in unread.sorted(by: { $0.key < $1.key }) {
      model.metadata[unreadKey + name] = reason
    }
    guard let metadata else { return }
    model.metadata[metadataKey] = json(metadata)
    model.documentation = metadata.description.isEmpty ? model.documentation : metadata.description
    describe(&model.graph.inputs, metadata.inputs)
    describe(&model.graph.outputs, metadata.outputs)
    if let labels = labels(metadata, texts) { model.metadata[labelsKey] = json(labels) }
  }

  private static func describe(_ features: inout [Feature], _ values: [TFLiteMetadata.Value]) {
    for (index, value) in zip(features.indices, values) {
      features[index].documentation = value.description
      guard !value.mean.isEmpty, value.mean.count == value.deviation.count,
        value.deviation.allSatisfy({ $0 != 0 })
      else { continue }
      features[index].normalization = FeatureNormalization(
        mean: value.mean, deviation: value.deviation)
    }
  }

  /// The lines of the first label file of an output, in no particular language if there is one.
  private static func labels(
    _ metadata: TFLiteMetadata, _ texts: OrderedTable<String>
  ) -> [String]? {
    let files = metadata.outputs.flatMap(\.files) + metadata.files
    let labels = files.filter {
      [.axisLabels, .valueLabels].contains($0.kind) && texts[$0.name] != nil
    }
    guard let chosen = labels.first(where: { $0.locale.isEmpty }) ?? labels.first,
      let text = texts[chosen.name]
    else { return nil }
    return lines(text)
  }

  /// The lines of a label file; empty ones at its end are none.
  package static func lines(_ text: String) -> [String] {
    var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// The text files in the archive that may stand behind the FlatBuffer. What cannot be read is no
  /// reason to refuse the model.
  private static func texts(
    in file: TFLiteFile, unread: inout [String: String]
  ) -> OrderedTable<String> {
    var texts = OrderedTable<String>()
    // Most files have no archive; then nothing says so but its missing end.
    guard let archive = try? ZipArchive(file.bytes) else { return texts }
    for name in archive.names.sorted() {
      do {
        guard let bytes = try archive.contents(of: name) else { continue }
        if bytes.count <= largestFile, let text = String(validating: bytes, as: UTF8.self) {
          texts[name] = text
        } else {
          unread[name] = "it is no text, or longer than \(largestFile) bytes"
        }
      } catch {
        unread[name] = (error as? GraftError)?.what ?? "\(error)"
      }
    }
    return texts
  }

  private static func json(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Model {
  /// What a TensorFlow Lite file says about the model's inputs and outputs; nil when it says nothing.
  public var tfliteMetadata: TFLiteMetadata? {
    metadata["tflite.metadata"].flatMap {
      try? JSONDecoder().decode(TFLiteMetadata.self, from: Data($0.utf8))
    }
  }

  /// The text files that a TensorFlow Lite file carries, such as labels and vocabularies, by name.
  public var tfliteFiles: OrderedTable<String> {
    let prefix = "tflite.file."
    return OrderedTable(
      metadata.filter { key, _ in key.hasPrefix(prefix) }
        .map { (String($0.key.dropFirst(prefix.count)), $0.value) })
  }
}

extension TFLiteMetadata {
  /// All files that it names.
  fileprivate var allFiles: [File] {
    let values = inputs + outputs
    return files + values.flatMap { $0.files + ($0.tokenizer?.vocabularyFiles ?? []) }
  }
}
