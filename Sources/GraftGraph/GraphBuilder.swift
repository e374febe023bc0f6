import GraftTensor

/// Adds nodes and constants to a graph under names that are not taken.
package struct GraphBuilder {
  package private(set) var graph: Graph
  private let names: NameSource
  /// What new names begin with.
  package var scope: String

  package init(_ graph: Graph = Graph(), scope: String = "") {
    self.graph = graph
    self.scope = scope
    names = NameSource(avoiding: graph.valueNames)
  }

  private func fresh(_ base: String) -> String {
    names.fresh(scope.isEmpty ? base : "\(scope)/\(base)")
  }

  /// Adds a node with one output and gives the output's name.
  package mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", named name: String? = nil
  ) -> String {
    let output = name.map(names.fresh) ?? fresh(op)
    graph.nodes.append(
      Node(
        op, domain: domain, name: output, inputs: inputs, outputs: [output],
        attributes: attributes))
    return output
  }

  /// Adds a node with several outputs; a nil name leaves the output away.
  package mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", outputs: [String?]
  ) -> [String] {
    let outputs = outputs.map { $0.map(fresh) ?? "" }
    graph.nodes.append(
      Node(
        op, domain: domain, name: outputs.first { !$0.isEmpty } ?? "", inputs: inputs,
        outputs: outputs, attributes: attributes))
    return outputs
  }

  /// Adds an initializer and gives its name.
  package mutating func initializer(_ tensor: Tensor, named base: String) -> String {
    let name = fresh(base)
    graph.initializers[name] = tensor
    return name
  }

  /// Adds a vector of integers.
  package mutating func ints(_ values: [Int]) throws -> String {
    initializer(try Tensor(values.map(Int64.init)), named: "shape")
  }

  /// Adds a scalar integer.
  package mutating func int(_ value: Int) throws -> String {
    initializer(try Tensor(scalar: Int64(value)), named: "integer")
  }

  /// Adds a scalar.
  package mutating func float(_ value: Float) throws -> String {
    initializer(try Tensor(scalar: value), named: "number")
  }

  /// Declares an input and gives its name.
  package mutating func input(_ feature: Feature) -> String {
    graph.inputs.append(feature)
    return feature.name
  }

  /// Declares an output; `value` must be the name of a value.
  package mutating func output(_ value: String, _ type: FeatureType = .unknown) {
    graph.outputs.append(Feature(name: value, type: type))
  }
}
