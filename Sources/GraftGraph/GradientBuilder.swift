import GraftTensor

/// What a gradient rule sees: a node, the gradients of its outputs, and a way to add nodes.
package struct GradientBuilder {
  /// The node to differentiate.
  package let node: Node
  /// The gradients of the node's outputs; nil where none flows.
  package let outputGradients: [String?]
  /// For each input: whether its gradient is wanted.
  package let wanted: [Bool]
  package private(set) var addedNodes: [Node] = []
  private var names: NameSource

  package init(
    node: Node, outputGradients: [String?], wanted: [Bool], names: NameSource
  ) {
    self.node = node
    self.outputGradients = outputGradients
    self.wanted = wanted
    self.names = names
  }

  /// The gradient of output 0, which flows whenever only output 0 is differentiable.
  package var outputGradient: String { (outputGradients.first ?? nil) ?? "" }

  package func wants(_ input: Int) -> Bool { input < wanted.count && wanted[input] }

  /// The name of an input; empty when it is left out.
  package func input(_ index: Int) -> String {
    index < node.inputs.count ? node.inputs[index] : ""
  }

  package func output(_ index: Int) -> String {
    index < node.outputs.count ? node.outputs[index] : ""
  }

  /// Adds a node with one output and gives the output's name.
  package mutating func add(
    _ op: String, domain: String = "", _ inputs: [String], _ attributes: [String: Attribute] = [:]
  ) -> String {
    add(op, domain: domain, inputs, attributes, outputs: [true])[0]
  }

  /// Adds a node with several outputs; false leaves an output's name empty.
  package mutating func add(
    _ op: String, domain: String = "", _ inputs: [String], _ attributes: [String: Attribute] = [:],
    outputs: [Bool]
  ) -> [String] {
    let outputNames = outputs.map { $0 ? names.fresh("gradient/\(node.op)/\(op)") : "" }
    addedNodes.append(
      Node(op, domain: domain, inputs: inputs, outputs: outputNames, attributes: attributes))
    return outputNames
  }

  /// A vector of integers.
  package mutating func ints(_ values: [Int]) -> String {
    add("Constant", [], ["value_ints": .ints(values)])
  }

  /// A scalar of the element type of `value`.
  package mutating func scalar(_ number: Float, like value: String) -> String {
    let constant = add("Constant", [], ["value_float": .float(number)])
    return add("CastLike", [constant, value])
  }

  /// `gradient` in the shape of `value`, which has as many elements.
  package mutating func reshape(_ gradient: String, like value: String) -> String {
    add("Reshape", [gradient, add("Shape", [value])], ["allowzero": .int(1)])
  }
}

/// Makes names that no value of a graph has yet; copies share their state.
package final class NameSource: @unchecked Sendable {
  private var used: Set<String>
  private var counts: [String: Int] = [:]

  package init(avoiding used: Set<String>) { self.used = used }

  package func fresh(_ base: String) -> String {
    var name = base
    while name.isEmpty || used.contains(name) {
      counts[base, default: 0] += 1
      name = "\(base)_\(counts[base, default: 0])"
    }
    used.insert(name)
    return name
  }
}
