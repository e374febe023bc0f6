import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A graph made ready to run: only the nodes that the wanted outputs need, values in numbered slots,
/// each freed after its last use.
///
/// Inputs may have any shape that the graph accepts; shapes are found while running.
package struct Plan: Sendable {
  package let inputs: [Feature]
  package let outputs: [String]
  /// The graph's inputs, also those that the outputs do not need.
  private let declared: Set<String>
  private let steps: [Step]
  private let slotCount: Int
  private let slots: [String: Int]
  private let constants: [(slot: Int, value: Tensor)]

  private struct Step: Sendable {
    let node: Node
    let op: any Operator
    /// -1 where an optional input is left out.
    let inputs: [Int]
    /// -1 where an optional output is not wanted.
    let outputs: [Int]
    /// Slots that nobody reads after this step.
    let released: [Int]
  }

  /// - Parameters:
  ///   - outputs: the values to compute; the graph's outputs when nil.
  /// - Throws: `unsupported` naming all operators that Graft does not have; `invalidArgument` when
  ///   an output is no value of the graph; `damaged` when the nodes are out of order.
  package init(_ graph: Graph, outputs wanted: [String]? = nil, registry: OperatorRegistry) throws {
    let outputs = wanted ?? graph.outputs.map(\.name)
    let nodes = graph.nodes(needed: outputs)
    try Self.requireSupport(of: nodes, registry)

    var slots: [String: Int] = [:]
    func slot(_ name: String) -> Int {
      if let slot = slots[name] { return slot }
      slots[name] = slots.count
      return slots.count - 1
    }
    let feeds = Set(graph.inputs.map(\.name))
    var constants: [(slot: Int, value: Tensor)] = []
    let reads = Set(nodes.flatMap(\.inputs)).union(outputs)
    for (name, value) in graph.initializers where reads.contains(name) {
      constants.append((slot(name), value))
    }
    for name in feeds where reads.contains(name) { _ = slot(name) }

    var lastUse: [Int: Int] = [:]
    var drafts: [(node: Node, op: any Operator, inputs: [Int], outputs: [Int])] = []
    for node in nodes {
      guard let op = registry(node) else { continue }
      try locating(node.place) { try Self.checkCounts(node, op) }
      let inputs = try node.inputs.map { name -> Int in
        guard !name.isEmpty else { return -1 }
        guard let slot = slots[name] else {
          throw GraftError(
            .damaged, "it reads '\(name)', which nothing makes before it", at: [node.place])
        }
        return slot
      }
      for input in inputs { lastUse[input] = drafts.count }
      let outputs = node.outputs.map { $0.isEmpty ? -1 : slot($0) }
      for output in outputs { lastUse[output] = drafts.count }
      drafts.append((node, op, inputs, outputs))
    }
    for output in outputs {
      guard let slot = slots[output] else { throw Self.noSuchValue(output, in: graph) }
      lastUse[slot] = .max
    }
    for constant in constants { lastUse[constant.slot] = .max }
    var released: [Int: [Int]] = [:]
    for (slot, step) in lastUse where slot >= 0 && step != .max {
      released[step, default: []].append(slot)
    }
    self.steps = drafts.enumerated().map { index, draft in
      Step(
        node: draft.node, op: draft.op, inputs: draft.inputs, outputs: draft.outputs,
        released: released[index] ?? [])
    }
    self.inputs = graph.inputs.filter {
      slots[$0.name] != nil && graph.initializers[$0.name] == nil
    }
    self.outputs = outputs
    declared = feeds
    self.slots = slots
    self.slotCount = slots.count
    self.constants = constants
  }

  /// Whether a run can be fed a value of this name.
  package func accepts(_ name: String) -> Bool { slots[name] != nil || declared.contains(name) }

  /// Computes the outputs.
  ///
  /// - Parameters:
  ///   - feeds: the inputs by name; an initializer's name replaces its value in this run.
  ///   - threads: how many threads kernels may use; all cores when nil.
  /// - Throws: `invalidArgument` when an input is missing, `typeMismatch` and `shapeMismatch` when
  ///   one does not fit; the kernels' errors with the node as place; `cancelled`.
  package func run(_ feeds: [String: Tensor], threads: Int? = nil) throws -> [String: Tensor] {
    let threads = max(1, threads ?? availableThreads)
    var values = [Tensor?](repeating: nil, count: slotCount)
    for constant in constants { values[constant.slot] = constant.value }
    for input in inputs {
      guard let tensor = feeds[input.name] else {
        throw GraftError(
          .invalidArgument, "input '\(input.name)' is missing",
          fix: "Give a tensor for each of: \(inputs.map(\.name).joined(separator: ", "))")
      }
      try input.check(tensor)
    }
    for (name, tensor) in feeds {
      if let slot = slots[name] { values[slot] = tensor }
    }
    for step in steps {
      guard !Task.isCancelled else { throw GraftError(.cancelled, "the run was cancelled") }
      try locating(step.node.place) { try execute(step, &values, threads) }
      for slot in step.released { values[slot] = nil }
    }
    var results: [String: Tensor] = [:]
    for name in outputs {
      if let slot = slots[name] { results[name] = values[slot] }
    }
    return results
  }

  private func execute(_ step: Step, _ values: inout [Tensor?], _ threads: Int) throws {
    let inputs = step.inputs.map { $0 < 0 ? nil : values[$0] }
    let types = try step.op.outputTypes(
      TypeContext(node: step.node, inputs: inputs.map { $0.map(TensorType.init) }, values: inputs))
    guard types.count >= step.outputs.count else {
      throw GraftError(
        .damaged, "\(step.outputs.count) outputs are named; there are only \(types.count)")
    }
    if let viewed = step.op.viewedInput, viewed < inputs.count, let input = inputs[viewed],
      step.outputs.dropFirst().allSatisfy({ $0 < 0 })
    {
      if let slot = step.outputs.first, slot >= 0 {
        values[slot] = try input.reshaped(to: types[0].shape)
      }
      return
    }
    let outputs = try step.outputs.enumerated().map { index, slot in
      slot < 0 ? nil : try Tensor(uninitialized: types[index].shape, types[index].elementType)
    }
    try step.op.run(
      KernelContext(node: step.node, inputs: inputs, outputs: outputs, threads: threads))
    for (slot, output) in zip(step.outputs, outputs) where slot >= 0 { values[slot] = output }
  }

  private static func requireSupport(of nodes: [Node], _ registry: OperatorRegistry) throws {
    let missing = registry.unsupported(in: Graph(nodes: nodes))
    guard !missing.isEmpty else { return }
    let names = missing.map { $0.count == 1 ? $0.op : "\($0.op) (\($0.count) nodes)" }
    throw GraftError(
      .unsupported, "Graft does not have these operators: \(names.joined(separator: ", "))",
      fix: "Export the model with other operators, or ask for an output that does not need them")
  }

  private static func checkCounts(_ node: Node, _ op: any Operator) throws {
    guard op.inputCount.contains(node.inputs.count) else {
      throw GraftError(
        .damaged, "there are \(node.inputs.count) inputs; \(op.name) takes \(text(op.inputCount))")
    }
    guard node.outputs.count <= op.outputCount.upperBound else {
      throw GraftError(
        .damaged, "there are \(node.outputs.count) outputs; \(op.name) has \(text(op.outputCount))")
    }
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    if range.count == 1 { return "\(range.lowerBound)" }
    return range.upperBound == .max
      ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }

  private static func noSuchValue(_ name: String, in graph: Graph) -> GraftError {
    GraftError(
      .invalidArgument, "the model has no value '\(name)'",
      fix: didYouMean(name, among: graph.valueNames)
        ?? "Choose one of the outputs: \(graph.outputs.map(\.name).joined(separator: ", "))")
  }
}
