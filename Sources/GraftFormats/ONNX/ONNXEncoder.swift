import GraftGraph
import GraftTensor

/// Encodes a model whose graph already is at the opset to write.
struct ONNXEncoder {
  /// nil when all tensors go into the model's file.
  let layout: ExternalDataLayout?

  func model(_ graph: Graph, _ model: Model) -> ProtobufWriter {
    let opset = model.originalOpset ?? ONNXWriter.defaultOpset
    let irVersion = irVersion(model, opset)
    var message = ProtobufWriter()
    message.int(ONNXField.Model.irVersion, irVersion)
    message.stringIfAny(ONNXField.Model.producerName, model.producerName)
    message.stringIfAny(ONNXField.Model.producerVersion, model.producerVersion)
    message.stringIfAny(ONNXField.Model.domain, model.domain)
    if model.modelVersion != 0 { message.int(ONNXField.Model.modelVersion, model.modelVersion) }
    message.stringIfAny(ONNXField.Model.documentation, model.documentation)
    message.message(
      ONNXField.Model.graph,
      self.graph(graph, isOutermost: true, listsInitializers: irVersion < 4))
    for (domain, version) in opsets(model, opset) {
      message.message(ONNXField.Model.opsetImport, opsetImport(domain, version))
    }
    for (key, value) in model.metadata {
      message.message(ONNXField.Model.metadata, entry(key, value))
    }
    for function in model.functions { message.array(ONNXField.Model.functions, function.encoded) }
    return message
  }

  /// The lowest version of the file format in which the model can be said.
  ///
  /// Source: https://onnx.ai/onnx/api/helper.html, the table of opsets and IR versions
  private func irVersion(_ model: Model, _ opset: Int) -> Int {
    let byOpset =
      switch opset {
      case ...8: 3
      case 9: 4
      case 10: 5
      case 11: 6
      case 12...14: 7
      case 15...18: 8
      case 19...20: 9
      default: 10
      }
    let needsOverloads = model.functions.contains { $0.name.contains(":") }
    return max(byOpset, model.functions.isEmpty ? 0 : needsOverloads ? 10 : 8)
  }

  /// All domains with their versions: those the model names and those its nodes use.
  private func opsets(_ model: Model, _ opset: Int) -> [(String, Int)] {
    var versions = model.otherOpsets
    for node in model.graph.allNodes where !node.domain.isEmpty {
      if versions[node.domain] == nil { versions[node.domain] = defaultVersion(node.domain) }
    }
    return [("", opset)] + versions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The version of a domain that a graph's nodes use without its file having named one.
  private func defaultVersion(_ domain: String) -> Int { domain == "ai.onnx.ml" ? 3 : 1 }

  private func opsetImport(_ domain: String, _ version: Int) -> ProtobufWriter {
    var message = ProtobufWriter()
    message.string(ONNXField.OperatorSet.domain, domain)
    message.int(ONNXField.OperatorSet.version, version)
    return message
  }

  func entry(_ key: String, _ value: String) -> ProtobufWriter {
    var message = ProtobufWriter()
    message.string(ONNXField.Entry.key, key)
    message.string(ONNXField.Entry.value, value)
    return message
  }
}
