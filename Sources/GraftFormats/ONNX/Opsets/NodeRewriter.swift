import GraftGraph
import GraftTensor

/// What a rule works with: it reads what is known of values and emits nodes.
struct NodeRewriter {
  private(set) var facts: ValueFacts
  private var emitted: [Node] = []
  /// Initializers that nodes were turned into.
  private(set) var initializers: [(name: String, tensor: Tensor)] = []
  /// The constants that rules made; later rules may turn them into attributes again.
  private(set) var constantNames: Set<String> = []
  private let isUpgrade: Bool
  private let names: NameSource
  private let nodeNames: NameSource

  /// - Parameters:
  ///   - names: makes names for values.
  ///   - nodeNames: makes names for nodes, which must differ as well.
  init(facts: ValueFacts, isUpgrade: Bool, names: NameSource, nodeNames: NameSource) {
    self.facts = facts
    self.isUpgrade = isUpgrade
    self.names = names
    self.nodeNames = nodeNames
  }

  mutating func learn(_ node: Node) { facts.learn(node) }

  /// The nodes emitted since the last call.
  mutating func takeEmitted() -> [Node] {
    defer { emitted = [] }
    return emitted
  }

  mutating func emit(_ node: Node) {
    facts.learn(node)
    emitted.append(node)
  }

  /// Emits a node that does a part of what `node` did, and gives its output's name.
  ///
  /// - Parameter output: the output's name; nil for a new one.
  @discardableResult
  mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    output: String? = nil, for node: Node
  ) -> String {
    let output = output ?? names.fresh("\(node.output(0))/\(op)")
    emit(
      Node(
        op, name: node.name.isEmpty ? "" : nodeNames.fresh("\(node.name)/\(op)"), inputs: inputs,
        outputs: [output], attributes: attributes, documentation: node.documentation))
    return output
  }

  func freshName(_ base: String) -> String { names.fresh(base) }

  /// Emits a constant; `role` says what the node uses it for.
  mutating func constant(_ tensor: Tensor, _ role: String, for node: Node) -> String {
    let output = names.fresh("\(node.output(0))/\(role)")
    constantNames.insert(output)
    emit(
      Node("Constant", inputs: [], outputs: [output], attributes: ["value": .tensor(tensor)]))
    return output
  }

  /// A vector of int64.
  mutating func ints(_ values: [Int], _ role: String, for node: Node) throws -> String {
    constant(try Tensor(values.map(Int64.init)), role, for: node)
  }

  /// A scalar of the element type of `value`.
  mutating func scalar(_ number: Float, like value: String, _ role: String, for node: Node) throws
    -> String
  {
    let type = facts.elementType(value)
    if type == .float64 {
      return constant(try Tensor(scalar: Double(number)), role, for: node)
    }
    let single = constant(try Tensor(scalar: number), role, for: node)
    if let type, type != .float32 {
      return add("Cast", [single], ["to": .int(type.rawValue)], for: node)
    }
    // Older opsets have no CastLike; what nothing is known of is float32 nearly always.
    return type == nil && isUpgrade ? add("CastLike", [single, value], for: node) : single
  }

  /// Turns a constant node's value into an initializer.
  mutating func addInitializer(_ name: String, _ tensor: Tensor) {
    initializers.append((name, tensor))
  }

  /// Takes a constant list of integers off the inputs; nil when it is left out.
  ///
  /// - Throws: `NeedsNewerOpset` when it is computed while running.
  func removeInts(_ index: Int, _ role: String, of node: inout Node) throws -> [Int]? {
    let name = node.input(index)
    guard !name.isEmpty else { return nil }
    guard let values = facts.ints(name) else {
      throw NeedsNewerOpset("its \(role) are computed while running")
    }
    node.setInput(index, "")
    return values
  }

  /// Takes a constant scalar off the inputs; nil when it is left out.
  ///
  /// - Throws: `NeedsNewerOpset` when it is computed while running.
  func removeFloat(_ index: Int, _ role: String, of node: inout Node) throws -> Float? {
    let name = node.input(index)
    guard !name.isEmpty else { return nil }
    guard let value = facts.float(name) else {
      throw NeedsNewerOpset("its \(role) is computed while running")
    }
    node.setInput(index, "")
    return value
  }
}
