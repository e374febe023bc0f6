import GraftDiagnostics
import GraftTensor

/// One operator applied to named values.
package struct Node: Sendable {
  /// May be empty.
  package var name: String
  /// The operator's name, such as `Conv`.
  package var op: String
  /// The operator's domain; empty for ONNX's own operators.
  package var domain: String
  /// Names of the values read; an empty name is an optional input left out.
  package var inputs: [String]
  /// Names of the values made; an empty name is an optional output nobody wants.
  package var outputs: [String]
  package var attributes: [String: Attribute]
  package var documentation: String

  package init(
    _ op: String, domain: String = "", name: String = "", inputs: [String], outputs: [String],
    attributes: [String: Attribute] = [:], documentation: String = ""
  ) {
    self.name = name
    self.op = op
    self.domain = domain
    self.inputs = inputs
    self.outputs = outputs
    self.attributes = attributes
    self.documentation = documentation
  }

  /// `Conv`, or `domain.Name` for operators that are not ONNX's own.
  package var qualifiedOp: String { domain.isEmpty ? op : "\(domain).\(op)" }

  /// How messages name the node.
  package var place: String {
    name.isEmpty
      ? "\(qualifiedOp) node making '\(outputs.first ?? "")'" : "\(qualifiedOp) node '\(name)'"
  }

  /// The graphs in the attributes, such as the branches of If.
  package var subgraphs: [Graph] {
    attributes.values.flatMap { attribute -> [Graph] in
      switch attribute {
      case .graph(let graph): [graph]
      case .graphs(let graphs): graphs
      default: []
      }
    }
  }
}

extension Node {
  package func has(_ attribute: String) -> Bool { attributes[attribute] != nil }

  /// The attribute, or `defaultValue` when it is absent; without default it must be there.
  ///
  /// - Throws: `damaged` when it is missing or of another kind.
  package func int(_ attribute: String, default defaultValue: Int? = nil) throws -> Int {
    switch attributes[attribute] {
    case .int(let value): return value
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "an integer", other)
    }
  }

  package func float(_ attribute: String, default defaultValue: Float? = nil) throws -> Float {
    switch attributes[attribute] {
    case .float(let value): return value
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "a float", other)
    }
  }

  package func string(_ attribute: String, default defaultValue: String? = nil) throws -> String {
    switch attributes[attribute] {
    case .string(let value): return String(decoding: value, as: UTF8.self)
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "a string", other)
    }
  }

  package func ints(_ attribute: String, default defaultValue: [Int]? = nil) throws -> [Int] {
    switch attributes[attribute] {
    case .ints(let value): return value
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "a list of integers", other)
    }
  }

  package func floats(_ attribute: String, default defaultValue: [Float]? = nil) throws -> [Float] {
    switch attributes[attribute] {
    case .floats(let value): return value
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "a list of floats", other)
    }
  }

  package func strings(_ attribute: String, default defaultValue: [String]? = nil) throws
    -> [String]
  {
    switch attributes[attribute] {
    case .strings(let value): return value.map { String(decoding: $0, as: UTF8.self) }
    case nil: return try required(attribute, defaultValue)
    case let other?: throw wrongKind(attribute, "a list of strings", other)
    }
  }

  package func tensor(_ attribute: String) throws -> Tensor {
    switch attributes[attribute] {
    case .tensor(let value): return value
    case nil: return try required(attribute, nil)
    case let other?: throw wrongKind(attribute, "a tensor", other)
    }
  }

  private func required<T>(_ attribute: String, _ defaultValue: T?) throws -> T {
    guard let defaultValue else {
      throw GraftError(.damaged, "attribute '\(attribute)' is missing")
    }
    return defaultValue
  }

  private func wrongKind(_ attribute: String, _ wanted: String, _ found: Attribute) -> GraftError {
    GraftError(.damaged, "attribute '\(attribute)' is \(found.kind), not \(wanted)")
  }
}
