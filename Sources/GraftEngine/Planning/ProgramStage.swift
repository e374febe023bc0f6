import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A graph at fixed input shapes: a program for what can be planned, then the nodes whose shapes
/// depend on numbers one by one, then a plan of its own for what comes behind them.
///
/// Used by one caller at a time.
final class ProgramStage: @unchecked Sendable {
  let program: Program
  private let outputs: [String]
  private let open: [(node: Node, op: any Operator)]
  private let rest: (graph: Graph, plan: PlanVariant)?
  private let constants: [String: Tensor]
  private let threads: Int

  /// - Parameters:
  ///   - threads: those of each run.
  ///   - packingThreads: those that bring the constants into the layouts of the kernels.
  init(
    _ graph: Graph, outputs: [String], inputTypes: [String: TensorType],
    registry: OperatorRegistry, options: PlanOptions, threads: Int, packingThreads: Int
  ) throws {
    self.outputs = outputs
    self.threads = threads
    let inferred = try graph.infer(inputTypes, registry: registry)
    let split = graph.split(knowing: inferred.types, registry: registry)
    open = split.open
    var wanted = OrderedTable<Bool>()
    let readLater = split.open.flatMap(\.node.inputs) + split.rest.flatMap(\.inputs)
    for name in outputs + readLater where !name.isEmpty && inferred.types[name] != nil {
      wanted[name] = true
    }
    constants = inferred.values.filter { inputTypes[$0.key] == nil }
    var planned = graph
    // What is known already is not computed again.
    planned.nodes = split.planned.filter { node in
      node.outputs.contains { !$0.isEmpty && inferred.values[$0] == nil }
    }
    planned.nodes = planned.nodes(needed: wanted.keys)
    planned.skipViews(keeping: wanted, types: inferred.types, registry: registry)
    var chooser = KernelChooser(
      planned, types: inferred.types, constants: constants, registry: registry,
      options: options, threads: threads, wanted: wanted.keys)
    program = try Program(
      ProgramDraft(
        try chooser.choices(), feeds: inputTypes.keys.sorted(), types: inferred.types,
        constants: constants, wanted: wanted.keys, options: options,
        packingThreads: packingThreads),
      options: options, threads: threads)
    let later = outputs.filter { inferred.types[$0] == nil }
    let remainder = graph.remainder(split.rest)
    rest =
      split.rest.isEmpty
      ? nil
      : (
        remainder,
        PlanVariant(
          remainder, outputs: later.filter { name in !split.open.makes(name) },
          registry: registry, options: options)
      )
  }

  func run(_ feeds: [String: Tensor], isCancelled: () -> Bool) throws -> [String: Tensor] {
    var values = try program.run(feeds, isCancelled: isCancelled)
    for (node, op) in open {
      guard !isCancelled() else { throw GraftError(.cancelled, "the run was cancelled") }
      try locating(node.place) { try run(node, op, &values) }
    }
    if let rest {
      let feeds = rest.graph.inputs.compactMap { input in
        values[input.name].map { (input.name, $0) }
      }
      let more = try rest.plan.run(
        Dictionary(feeds) { first, _ in first }, threads: threads, isCancelled: isCancelled)
      values.merge(more) { _, later in later }
    }
    return values.filter { outputs.contains($0.key) }
  }

  /// Runs one node with shapes found from its inputs' numbers.
  private func run(_ node: Node, _ op: any Operator, _ values: inout [String: Tensor]) throws {
    let inputs = node.inputs.map { $0.isEmpty ? nil : values[$0] ?? constants[$0] }
    let types = try op.outputTypes(
      TypeContext(node: node, inputs: inputs.map { $0.map(TensorType.init) }, values: inputs))
    guard types.count >= node.outputs.count else {
      throw GraftError(
        .damaged, "\(node.outputs.count) outputs are named; there are only \(types.count)")
    }
    if let viewed = op.viewedInput, viewed < inputs.count, let input = inputs[viewed],
      let output = node.outputs.first, node.outputs.dropFirst().allSatisfy(\.isEmpty)
    {
      values[output] = try input.reshaped(to: types[0].shape)
      return
    }
    let outputs = try zip(node.outputs, types).map { name, type in
      name.isEmpty ? nil : try Tensor(uninitialized: type.shape, type.elementType)
    }
    try op.run(KernelContext(node: node, inputs: inputs, outputs: outputs, threads: threads))
    for (name, output) in zip(node.outputs, outputs) { values[name] = output }
  }
}

extension Graph {
  /// Lets the readers of values that another value is already, shape and all, read that one, so that
  /// kernels see what lies behind.
  fileprivate mutating func skipViews(
    keeping wanted: OrderedTable<Bool>, types: [String: TensorType], registry: OperatorRegistry
  ) {
    var sources: [String: String] = [:]
    let captured = Set(nodes.flatMap { Set($0.reads).subtracting($0.inputs) })
    nodes = nodes.compactMap { node in
      var node = node
      node.inputs = node.inputs.map { sources[$0] ?? $0 }
      guard let viewed = registry(node)?.viewedInput, viewed < node.inputs.count,
        let output = node.outputs.first, node.outputs.dropFirst().allSatisfy(\.isEmpty),
        wanted[output] == nil, !captured.contains(output), !node.inputs[viewed].isEmpty,
        types[node.inputs[viewed]] == types[output]
      else { return node }
      sources[output] = node.inputs[viewed]
      return nil
    }
  }

  /// The nodes by what is known of them: all types; the inputs' only; not even those.
  fileprivate func split(knowing types: [String: TensorType], registry: OperatorRegistry) -> (
    planned: [Node], open: [(node: Node, op: any Operator)], rest: [Node]
  ) {
    var planned: [Node] = []
    var open: [(node: Node, op: any Operator)] = []
    var rest: [Node] = []
    func isKnown(_ name: String) -> Bool { name.isEmpty || types[name] != nil }
    for node in nodes {
      guard let op = registry(node) else { continue }
      if !node.inputs.allSatisfy(isKnown) {
        rest.append(node)
      } else if node.outputs.allSatisfy(isKnown) {
        planned.append(node)
      } else {
        open.append((node, op))
      }
    }
    return (planned, open, rest)
  }

  /// The graph of some of the nodes; what they read and do not make becomes an input.
  fileprivate func remainder(_ nodes: [Node]) -> Graph {
    var graph = Graph(name: name, nodes: nodes)
    let reads = Set(nodes.flatMap(\.reads))
    graph.initializers = initializers.filter { name, _ in reads.contains(name) }
    let made = Set(nodes.flatMap(\.outputs))
    graph.inputs = reads.subtracting(made).filter { graph.initializers[$0] == nil }.sorted()
      .map { Feature(name: $0, type: .unknown) }
    return graph
  }
}

extension [(node: Node, op: any Operator)] {
  fileprivate func makes(_ name: String) -> Bool {
    contains { $0.node.outputs.contains(name) }
  }
}
