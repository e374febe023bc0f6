import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ONNXReader {
  func model(_ message: ProtobufReader) throws -> Model {
    var message = message
    var model = Model(graph: Graph())
    var graph: Graph?
    var irVersion = 0
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Model.irVersion: irVersion = try field.int()
      case ONNXField.Model.producerName: model.producerName = try field.string()
      case ONNXField.Model.producerVersion: model.producerVersion = try field.string()
      case ONNXField.Model.domain: model.domain = try field.string()
      case ONNXField.Model.modelVersion: model.modelVersion = try field.int()
      case ONNXField.Model.documentation: model.documentation = try field.string()
      case ONNXField.Model.graph: graph = try self.graph(try field.message())
      case ONNXField.Model.opsetImport: try readOpset(try field.message(), into: &model)
      case ONNXField.Model.metadata:
        let (key, value) = try entry(try field.message())
        model.metadata[key] = value
      case ONNXField.Model.functions: model.functions.append(try function(field))
      default: break
      }
    }
    guard let graph else {
      throw GraftError(.damaged, "this is no ONNX model: it holds no graph", fix: onnxFix)
    }
    model.graph = try finish(graph, irVersion: irVersion, opset: model.originalOpset)
    return model
  }

  /// Brings a graph as it is stored to the form that Graft works on.
  private func finish(_ stored: Graph, irVersion: Int, opset: Int?) throws -> Graph {
    var graph = stored
    // Up to IR version 3 every initializer had to be an input as well.
    if irVersion < 4 {
      graph.inputs.removeAll {
        graph.initializers[$0.name] != nil || graph.stringInitializers[$0.name] != nil
      }
    }
    graph = try graph.verified()
    if let opset {
      graph = try OpsetConversion.upgrade(graph, from: opset)
    } else if graph.nodes.contains(where: { $0.domain.isEmpty }) {
      throw GraftError(.damaged, "the model does not say which opset it follows", fix: onnxFix)
    }
    return graph
  }

  private func readOpset(_ message: ProtobufReader, into model: inout Model) throws {
    var message = message
    var domain = ""
    var version = 1
    while let field = try message.next() {
      switch field.number {
      case ONNXField.OperatorSet.domain: domain = canonicalDomain(try field.string())
      case ONNXField.OperatorSet.version: version = try field.int()
      default: break
      }
    }
    if domain.isEmpty {
      model.originalOpset = version
    } else {
      model.otherOpsets[domain] = version
    }
  }

  /// A key and its value.
  func entry(_ message: ProtobufReader) throws -> (key: String, value: String) {
    var message = message
    var result = (key: "", value: "")
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Entry.key: result.key = try field.string()
      case ONNXField.Entry.value: result.value = try field.string()
      default: break
      }
    }
    return result
  }

  private func function(_ field: ProtobufField) throws -> OpaqueFunction {
    var function = OpaqueFunction(domain: "", name: "", encoded: Array(try field.bytes()))
    var overload = ""
    var message = try field.message()
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Function.name: function.name = try field.string()
      case ONNXField.Function.domain: function.domain = canonicalDomain(try field.string())
      case ONNXField.Function.overload: overload = try field.string()
      default: break
      }
    }
    function.name = overloadedName(function.name, overload)
    return function
  }

  /// The name of ONNX's own domain is `ai.onnx`, or empty.
  func canonicalDomain(_ domain: String) -> String { domain == "ai.onnx" ? "" : domain }

  /// An operator's name with the overload of the model's function it means, if there is one.
  ///
  /// A colon is no part of operators' names, so that the writer can split them again.
  func overloadedName(_ op: String, _ overload: String) -> String {
    overload.isEmpty ? op : "\(op):\(overload)"
  }
}

let onnxFix = "Export the model as ONNX again"
