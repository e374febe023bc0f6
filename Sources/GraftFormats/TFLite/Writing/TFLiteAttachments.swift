import Foundation
import GraftDiagnostics
import GraftGraph

/// What a file says about its inputs and outputs, and the text files behind it.
struct TFLiteAttachments {
  private(set) var metadata: TFLiteMetadata
  /// By name.
  private(set) var files: [(name: String, bytes: [UInt8])] = []

  private static let labelsName = "labels.txt"

  /// From what the model was read with, brought up to date.
  init(_ model: Model) {
    if let known = model.tfliteMetadata {
      metadata = known
    } else {
      metadata = TFLiteMetadata()
      metadata.name = model.graph.name
      metadata.description = model.documentation
    }
    metadata.inputs = Self.values(metadata.inputs, model.inputs)
    metadata.outputs = Self.values(metadata.outputs, model.outputs)
    var texts = model.tfliteFiles
    if let labels = model.storedLabels { attach(labels, &texts) }
    files = texts.map { ($0.key, Array($0.value.utf8)) }
  }

  /// One description for each feature; what is known is kept where there are as many.
  private static func values(_ known: [TFLiteMetadata.Value], _ features: [Feature])
    -> [TFLiteMetadata.Value]
  {
    features.enumerated().map { index, feature in
      var value = TFLiteMetadata.Value()
      if known.count == features.count {
        value = known[index]
      } else {
        (value.name, value.description) = (feature.name, feature.documentation)
      }
      if let normalization = feature.normalization {
        (value.mean, value.deviation) = (normalization.mean, normalization.deviation)
      }
      return value
    }
  }

  /// Puts labels into the file that names them, or into a new one of the first output.
  private mutating func attach(_ labels: [String], _ texts: inout OrderedTable<String>) {
    let known = (metadata.outputs.flatMap(\.files) + metadata.files).filter {
      [.axisLabels, .valueLabels].contains($0.kind) && texts[$0.name] != nil
    }
    let chosen = known.first { $0.locale.isEmpty } ?? known.first
    if let chosen, let text = texts[chosen.name], TFLiteReader.lines(text) == labels { return }
    let name = chosen?.name ?? Self.labelsName
    texts[name] = labels.map { $0 + "\n" }.joined()
    guard chosen == nil, !metadata.outputs.isEmpty else { return }
    metadata.outputs[0].files.append(
      TFLiteMetadata.File(name: name, description: "", kind: .axisLabels, locale: ""))
  }
}

extension Model {
  /// The names of the classes in the model's own metadata.
  fileprivate var storedLabels: [String]? {
    metadata["labels"].flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
  }
}
