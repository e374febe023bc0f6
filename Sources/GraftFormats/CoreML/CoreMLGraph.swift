import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The graph that a Core ML model becomes, while rules add to it.
struct CoreMLGraph {
  /// The domain of layers that have no form in ONNX.
  static let unknownDomain = "coreml"

  private(set) var graph = Graph(name: "")
  private var facts = ValueFacts(Graph(name: ""), around: nil)
  private let names = NameSource(avoiding: [])
  /// Values that have been given the name of something in the file.
  private var named: Set<String> = []
  /// The outputs that values inside have become, by the names of the values.
  private(set) var renames: [String: String] = [:]
  private var sharedConstants: [String: String] = [:]
  /// Keeps the bytes alive that tensors borrow.
  let owner: AnyObject

  init(owner: AnyObject) { self.owner = owner }

  /// The rank of a value; nil when it is unknown.
  func rank(_ value: String) -> Int? { facts.rank(value) }

  func elementType(_ value: String) -> ElementType? { facts.elementType(value) }

  // MARK: Ends

  /// Declares an input.
  mutating func input(_ feature: Feature) throws {
    guard names.fresh(feature.name) == feature.name else {
      throw GraftError(.damaged, "there are two inputs named '\(feature.name)'")
    }
    graph.inputs.append(feature)
    if case .tensor(let type, let shape) = feature.type {
      facts.define(feature.name, KnownType(elementType: type, rank: shape?.count))
    }
  }

  /// Keeps a name for an output, so that no other value takes it.
  mutating func reserve(_ name: String) { _ = names.fresh(name) }

  /// Declares an output: the value under a name that was reserved.
  mutating func output(_ value: String, as feature: Feature) throws {
    guard !graph.outputs.contains(where: { $0.name == feature.name }) else {
      throw GraftError(.damaged, "there are two outputs named '\(feature.name)'")
    }
    var feature = feature
    if graph.inputs.contains(where: { $0.name == feature.name }) {
      feature.name = names.fresh(feature.name)
    }
    graph.nodes.append(
      Node("Identity", name: feature.name, inputs: [value], outputs: [feature.name]))
    graph.outputs.append(feature)
  }

  // MARK: Nodes

  /// Adds a node with one output and gives the output's name.
  mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", named name: String? = nil
  ) -> String {
    add(op, inputs, attributes, domain: domain, outputs: [name ?? op])[0]
  }

  /// Adds a node and gives its outputs' names, which are new ones like those given.
  mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", outputs: [String], documentation: String = ""
  ) -> [String] {
    let outputs = outputs.map { $0.isEmpty ? "" : names.fresh($0) }
    let node = Node(
      op, domain: domain, name: outputs.first ?? "", inputs: inputs, outputs: outputs,
      attributes: attributes, documentation: documentation)
    facts.learn(node)
    graph.nodes.append(node)
    return outputs
  }

  /// Gives a value of the last node another name, a new one like that given.
  mutating func renamed(_ value: String, to name: String) -> String {
    guard value != name, let last = graph.nodes.indices.last,
      let output = graph.nodes[last].outputs.firstIndex(of: value), !named.contains(value)
    else { return value }
    let chosen = names.fresh(name)
    named.insert(chosen)
    if graph.nodes[last].name == value { graph.nodes[last].name = chosen }
    graph.nodes[last].outputs[output] = chosen
    facts.define(chosen, facts.type(value))
    return chosen
  }

  /// Notes the type of a value that an unknown operator makes.
  mutating func declare(_ value: String, _ type: KnownType) { facts.define(value, type) }

  // MARK: Constants

  /// Adds an initializer and gives its name.
  mutating func initializer(_ tensor: Tensor, named base: String) -> String {
    let name = names.fresh(base)
    graph.initializers[name] = tensor
    facts.define(name, tensor)
    return name
  }

  /// A constant that many nodes may read.
  private mutating func shared(_ key: String, named base: String, _ make: () throws -> Tensor)
    throws -> String
  {
    if let known = sharedConstants[key] { return known }
    let name = initializer(try make(), named: base)
    sharedConstants[key] = name
    return name
  }

  /// A vector of whole numbers.
  mutating func ints(_ values: [Int]) throws -> String {
    try shared("ints \(values)", named: "integers") { try Tensor(values.map(Int64.init)) }
  }

  /// A whole number without axes.
  mutating func int(_ value: Int) throws -> String {
    try shared("int \(value)", named: "integer") { try Tensor(scalar: Int64(value)) }
  }

  /// A number without axes, float32 or float64.
  mutating func number(_ value: Double, _ type: ElementType = .float32) throws -> String {
    try shared("number \(type) \(value.bitPattern)", named: "number") {
      type == .float64 ? try Tensor(scalar: value) : try Tensor(scalar: Float(value))
    }
  }

  // MARK: Frequent nodes

  mutating func reshaped(_ value: String, _ shape: [Int]) throws -> String {
    add("Reshape", [value, try ints(shape)])
  }

  mutating func transposed(_ value: String, _ order: [Int]) -> String {
    order == Array(order.indices) ? value : add("Transpose", [value], ["perm": .ints(order)])
  }

  /// The value in another element type; itself when it has that type.
  mutating func cast(_ value: String, to type: ElementType) -> String {
    elementType(value) == type ? value : add("Cast", [value], ["to": .int(type.rawValue)])
  }

  /// The elements `range` of a value's shape, as a vector.
  mutating func sizes(_ value: String, from start: Int, to end: Int? = nil) -> String {
    var attributes: [String: Attribute] = ["start": .int(start)]
    if let end { attributes["end"] = .int(end) }
    return add("Shape", [value], attributes)
  }

  /// The graph with its nodes checked and without those that nothing needs; unknown ones stay.
  mutating func finished() throws -> Graph {
    giveOutputsTheirNames()
    var result = try graph.verified()
    var needed = Set(result.outputs.map(\.name))
    var kept: [Node] = []
    for node in result.nodes.reversed() {
      let isUnknown = node.domain == Self.unknownDomain
      guard isUnknown || node.outputs.contains(where: needed.contains) else { continue }
      needed.formUnion(node.reads)
      kept.append(node)
    }
    result.nodes = kept.reversed()
    result.initializers = result.initializers.filter { name, _ in needed.contains(name) }
    return result
  }

  /// Takes out the nodes that only give an output its name: the value itself gets it.
  private mutating func giveOutputsTheirNames() {
    var producers = graph.producers
    let outputs = Set(graph.outputs.map(\.name))
    var isTaken = [Bool](repeating: false, count: graph.nodes.count)
    for (index, node) in graph.nodes.enumerated() {
      guard node.op == "Identity", outputs.contains(node.outputs[0]),
        let producer = producers[node.inputs[0]], !outputs.contains(node.inputs[0]),
        renames[node.inputs[0]] == nil
      else { continue }
      renames[node.inputs[0]] = node.outputs[0]
      producers[node.outputs[0]] = producer
      isTaken[index] = true
    }
    let renames = renames
    graph.nodes = zip(graph.nodes, isTaken).compactMap { node, isTaken in
      guard !isTaken else { return nil }
      var node = node
      node.inputs = node.inputs.map { renames[$0] ?? $0 }
      node.outputs = node.outputs.map { renames[$0] ?? $0 }
      node.name = renames[node.name] ?? node.name
      return node
    }
  }
}
