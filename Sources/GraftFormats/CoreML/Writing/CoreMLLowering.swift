import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Makes the operations of Core ML's language from a graph, node by node.
struct CoreMLLowering {
  /// Adds the operations for one node. What cannot be expressed throws `unsupported`.
  typealias Rule = @Sendable (inout CoreMLLowering, Node) throws -> Void

  /// The rules by the operator's qualified name.
  static let table: [String: Rule] = [
    unaryRules, binaryRules, windowRules, productRules, normalizationRules, reductionRules,
    shapeRules, indexRules, recurrentRules,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  let graph: Graph
  let shapes: TFLiteShapes
  /// Whether an ML program is to be made, not a network.
  let isProgram: Bool
  var draft = CoreMLDraft()
  /// The value of the draft that each value of the graph is.
  var names: [String: String] = [:]
  /// For values that only have their axes in another order: of which value, and which order.
  var transposes: [String: (source: String, order: [Int])] = [:]
  var taken: Set<String>
  var absorbed: Set<Int> = []
  var current = (name: "", place: "")
  private let readers: [String: [Int]]

  init(_ graph: Graph, _ shapes: TFLiteShapes, isProgram: Bool) {
    self.isProgram = isProgram
    self.graph = graph
    self.shapes = shapes
    taken = Set(graph.outputs.map(\.name))
    taken.formUnion(graph.inputs.map(\.name))
    var readers: [String: [Int]] = [:]
    for (index, node) in graph.nodes.enumerated() {
      for name in node.reads { readers[name, default: []].append(index) }
    }
    for output in graph.outputs { readers[output.name, default: []].append(-1) }
    self.readers = readers
  }

  /// Lowers the whole graph.
  ///
  /// - Throws: `unsupported` naming every node that has no form in Core ML, with its operator.
  mutating func lower() throws {
    for input in graph.requiredInputs { try locating("input '\(input.name)'") { try bind(input) } }
    var failures: [(node: Node, reason: String)] = []
    var isUnknown: Set<String> = []
    for (index, node) in graph.nodes.enumerated() where !absorbed.contains(index) {
      if node.outputs.allSatisfy({ $0.isEmpty || shapes.constants[$0] != nil }) { continue }
      // Behind a node that cannot be written, nothing may be known.
      if node.reads.contains(where: isUnknown.contains) {
        isUnknown.formUnion(node.outputs)
        continue
      }
      do {
        try lower(node)
      } catch let error as GraftError where error.code == .unsupported {
        failures.append((node, error.what))
        isUnknown.formUnion(node.outputs)
      }
    }
    if let error = Self.refusal(failures) { throw error }
    for output in graph.outputs {
      draft.outputs.append((output.name, try operand(output.name)))
    }
  }

  private mutating func lower(_ node: Node) throws {
    guard let rule = Self.table[node.qualifiedOp] else {
      throw GraftError(.unsupported, "the operator has no form")
    }
    let name = node.name.isEmpty ? node.outputs.first { !$0.isEmpty } ?? node.op : node.name
    current = (name, node.place)
    try locating(node.place) { try rule(&self, node) }
  }

  private static func refusal(_ failures: [(node: Node, reason: String)]) -> GraftError? {
    guard !failures.isEmpty else { return nil }
    let list = failures.prefix(8).map { "\($0.node.place) (\($0.reason))" }
    let more = failures.count > 8 ? "; and \(failures.count - 8) more" : ""
    return GraftError(
      .unsupported, "Core ML has no form for: " + list.joined(separator: "; ") + more,
      fix: "Write the model as .onnx, or change these operators")
  }

  // MARK: What is known

  func type(_ value: String) throws -> TensorType {
    let type = try shapes.types[value].orThrow {
      GraftError(
        .unsupported, "the shape of '\(value)' depends on numbers that are known in a run only")
    }
    guard [.float32, .int32, .int64, .bool, .uint8].contains(type.elementType) else {
      throw GraftError(.unsupported, "values of type \(type.elementType)")
    }
    guard type.shape.rank <= 5 else {
      throw GraftError(.unsupported, "values of \(type.shape.rank) axes; Core ML has five at most")
    }
    return type.elementType == .int64 ? TensorType(.int32, type.shape) : type
  }

  func shape(_ value: String) throws -> Shape { try type(value).shape }

  func isFloat(_ value: String) throws -> Bool { try type(value).elementType == .float32 }

  func constant(_ value: String) -> Tensor? { shapes.constants[value] }

  /// The name of an input; nil when it is left out.
  func input(_ index: Int, of node: Node) -> String? {
    node.inputs.indices.contains(index) && !node.inputs[index].isEmpty ? node.inputs[index] : nil
  }

  func required(_ index: Int, of node: Node) throws -> String {
    try input(index, of: node).orThrow { GraftError(.damaged, "input \(index) is missing") }
  }

  func constantInput(_ index: Int, of node: Node) throws -> Tensor {
    try constant(try required(index, of: node)).orThrow {
      GraftError(.unsupported, "its input \(index) is computed, not constant")
    }
  }

  func constantInts(_ index: Int, of node: Node) throws -> [Int]? {
    guard input(index, of: node) != nil else { return nil }
    return try constantInput(index, of: node).ints.orThrow {
      GraftError(.damaged, "its input \(index) must be int64 or int32")
    }
  }

  /// The draft's value for a value of the graph; nil when nothing has made it.
  func known(_ value: String) -> String? { names[value] }

  func isRead(_ value: String) -> Bool { !value.isEmpty && readers[value] != nil }

  /// The only node that reads a value that nobody else wants.
  func onlyReader(of value: String) -> (index: Int, node: Node)? {
    guard let all = readers[value], all.count == 1, all[0] >= 0 else { return nil }
    return (all[0], graph.nodes[all[0]])
  }

  /// Says that a node has been done as a part of another one.
  mutating func absorb(_ index: Int) { absorbed.insert(index) }
}
