import GraftTensor

/// A graph with what its file says about it: what a format's reader makes and its writer takes.
public struct Model: Sendable {
  package var graph: Graph
  /// Free entries by key: class names, training parameters, whatever the exporter noted.
  public var metadata: OrderedTable<String>
  /// The program that made the model.
  public var producerName: String
  public var producerVersion: String
  /// The maker's name space, in reverse-DNS form.
  public var domain: String
  /// The maker's own count of versions.
  public var modelVersion: Int
  public var documentation: String
  /// Where the model was read from; nil when it was built.
  public var origin: ModelOrigin?
  /// The version of ONNX's operators in the file the model was read from; nil otherwise.
  package var originalOpset: Int?
  /// The versions of other domains' operators, such as `ai.onnx.ml`.
  package var otherOpsets: [String: Int]
  /// Functions that nodes may call, kept as they are: Graft does not look inside.
  package var functions: [OpaqueFunction]

  package init(graph: Graph) {
    self.graph = graph
    metadata = OrderedTable()
    producerName = ""
    producerVersion = ""
    domain = ""
    modelVersion = 0
    documentation = ""
    otherOpsets = [:]
    functions = []
  }

  /// What must be fed to run the model.
  public var inputs: [Feature] { graph.requiredInputs }

  public var outputs: [Feature] { graph.outputs }

  /// The floating-point tensors stored in the model, by name: what training may change.
  public var parameters: OrderedTable<Tensor> {
    graph.initializers.filter { $1.elementType.isFloatingPoint }
  }
}

/// The file a model was read from.
public struct ModelOrigin: Sendable, Hashable {
  /// The format's name, such as `ONNX`.
  public var format: String
  /// Empty when the model came from memory.
  public var path: String

  package init(format: String, path: String) {
    self.format = format
    self.path = path
  }
}

/// A function that a model file defines for its own nodes, in its encoded form.
package struct OpaqueFunction: Sendable {
  package var domain: String
  package var name: String
  package var encoded: [UInt8]

  package init(domain: String, name: String, encoded: [UInt8]) {
    self.domain = domain
    self.name = name
    self.encoded = encoded
  }
}
