import GraftTensor

/// The value of a node's attribute, in ONNX's kinds.
package enum Attribute: Sendable {
  case int(Int)
  case float(Float)
  case string([UInt8])
  case tensor(Tensor)
  case strings([[UInt8]])
  case ints([Int])
  case floats([Float])
  case tensors([Tensor])
  case graph(Graph)
  case graphs([Graph])
  /// A string tensor.
  case text(StringTensor)
  /// A kind that Graft carries without looking inside: its encoded form in the file.
  case opaque([UInt8])

  package static func string(_ text: String) -> Attribute { .string(Array(text.utf8)) }

  /// The kind's name in messages.
  package var kind: String {
    switch self {
    case .int: "an integer"
    case .float: "a float"
    case .string: "a string"
    case .tensor: "a tensor"
    case .strings: "a list of strings"
    case .ints: "a list of integers"
    case .floats: "a list of floats"
    case .tensors: "a list of tensors"
    case .graph: "a graph"
    case .graphs: "a list of graphs"
    case .text: "a string tensor"
    case .opaque: "of a kind unknown to Graft"
    }
  }
}

/// An array of strings with a shape.
public struct StringTensor: Sendable, Hashable {
  public var values: [String]
  public var shape: Shape

  public init(_ values: [String], shape: Shape) {
    self.values = values
    self.shape = shape
  }
}

/// What flows along an edge of a graph while it runs.
package enum GraphValue: Sendable {
  case tensor(Tensor)
  case strings(StringTensor)
  case sequence([GraphValue])
  indirect case optional(GraphValue?)
}
