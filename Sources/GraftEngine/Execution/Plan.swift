import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A graph made ready to run.
///
/// Inputs may have any shape that the graph accepts. For every combination of shapes a program is made
/// when it first comes up, and kept.
package struct Plan: Sendable {
  package let inputs: [Feature]
  package let outputs: [String]
  /// The graph's inputs, also those that the outputs do not need.
  private let declared: Set<String>
  private let initializers: Set<String>
  private let variants: PlanVariants

  /// - Parameters:
  ///   - outputs: the values to compute; the graph's outputs when nil.
  ///   - options: where kernels come from and what is optimised.
  /// - Throws: `unsupported` naming all operators that Graft does not have; `invalidArgument` when
  ///   an output is no value of the graph; `damaged` when the nodes are out of order.
  package init(
    _ graph: Graph, outputs wanted: [String]? = nil, registry: OperatorRegistry,
    options: PlanOptions = PlanOptions()
  ) throws {
    let outputs = wanted ?? graph.outputs.map(\.name)
    let known = graph.valueNames
    if let unknown = outputs.first(where: { !known.contains($0) }) {
      throw GraftError(
        .invalidArgument, "the model has no value '\(unknown)'",
        fix: didYouMean(unknown, among: known)
          ?? "Choose one of the outputs: \(graph.outputs.map(\.name).joined(separator: ", "))")
    }
    let pruned = graph.pruned(to: outputs.map { Feature(name: $0, type: .unknown) })
    try Self.requireSupport(of: pruned, registry)
    try Self.requireOrder(of: pruned, registry)
    inputs = pruned.inputs.filter { pruned.initializers[$0.name] == nil }
    self.outputs = outputs
    declared = Set(graph.inputs.map(\.name))
    initializers = Set(pruned.initializers.keys)
    variants = PlanVariants(pruned, outputs: outputs, registry: registry, options: options)
  }

  /// Whether a run can be fed a value of this name.
  package func accepts(_ name: String) -> Bool {
    declared.contains(name) || initializers.contains(name)
  }

  /// Computes the outputs.
  ///
  /// - Parameters:
  ///   - feeds: the inputs by name; an initializer's name replaces its value in this run.
  ///   - threads: how many threads kernels may use; all cores when nil.
  /// - Throws: `invalidArgument` when an input is missing, `typeMismatch` and `shapeMismatch` when
  ///   one does not fit; the kernels' errors with the node as place; `cancelled`.
  package func run(_ feeds: [String: Tensor], threads: Int? = nil) throws -> [String: Tensor] {
    let (needed, variables) = try checked(feeds)
    let threads = max(1, threads ?? availableThreads)
    return try withCancellation { isCancelled in
      try variants.onEngineThread {
        let variant = try variants.variant(replacing: variables)
        return try variant.run(needed, threads: threads, isCancelled: isCancelled)
      }
    }
  }

  /// Computes the outputs for each of several feeds, as many at a time as there are threads.
  ///
  /// What a feed gives does not depend on the others. They are best of the same shapes.
  ///
  /// - Throws: what `run` throws, for the first feed that fails.
  package func run(each feeds: [[String: Tensor]], threads: Int? = nil) throws -> [[String: Tensor]]
  {
    let checked = try feeds.map(checked)
    let threads = max(1, threads ?? availableThreads)
    return try withCancellation { isCancelled in
      try variants.run(each: checked, threads: threads, isCancelled: isCancelled)
    }
  }

  /// The steps of a run with inputs of these types.
  package func listing(_ feeds: [String: Tensor], threads: Int? = nil) throws -> [StepListing] {
    let (needed, variables) = try checked(feeds)
    let threads = max(1, threads ?? availableThreads)
    return try variants.onEngineThread {
      try variants.variant(replacing: variables).listing(needed, threads: threads)
    }
  }

  /// Runs the steps once under the eyes of an observer, which is called on the thread that runs them.
  ///
  /// Only the steps whose shapes are known before the run, as in `listing`, which this returns.
  package func observe(
    _ feeds: [String: Tensor], threads: Int? = nil, by observer: any StepObserver
  ) throws -> [StepListing] {
    let (needed, variables) = try checked(feeds)
    let threads = max(1, threads ?? availableThreads)
    return try variants.onEngineThread {
      try variants.variant(replacing: variables).observe(needed, threads: threads, by: observer)
    }
  }

  /// The steps of a run with inputs of these types, with the time that each takes: the median of
  /// several runs.
  package func profile(_ feeds: [String: Tensor], threads: Int? = nil, runs: Int) throws -> [(
    step: StepListing, duration: Duration
  )] {
    let (needed, variables) = try checked(feeds)
    let threads = max(1, threads ?? availableThreads)
    return try variants.onEngineThread {
      try variants.variant(replacing: variables).profile(needed, threads: threads, runs: runs)
    }
  }

  /// The feeds that are read, and the names among them that replace initializers.
  private func checked(_ feeds: [String: Tensor]) throws -> (
    needed: [String: Tensor], variables: [String]
  ) {
    var needed: [String: Tensor] = [:]
    for input in inputs {
      guard let tensor = feeds[input.name] else {
        throw GraftError(
          .invalidArgument, "input '\(input.name)' is missing",
          fix: "Give a tensor for each of: \(inputs.map(\.name).joined(separator: ", "))")
      }
      try input.check(tensor)
      needed[input.name] = tensor
    }
    var variables: [String] = []
    for (name, tensor) in feeds where needed[name] == nil && initializers.contains(name) {
      needed[name] = tensor
      variables.append(name)
    }
    return (needed, variables.sorted())
  }

  private static func requireSupport(of graph: Graph, _ registry: OperatorRegistry) throws {
    let missing = registry.unsupported(in: graph)
    guard !missing.isEmpty else { return }
    let names = missing.map { $0.count == 1 ? $0.op : "\($0.op) (\($0.count) nodes)" }
    throw GraftError(
      .unsupported, "Graft does not have these operators: \(names.joined(separator: ", "))",
      fix: "Export the model with other operators, or ask for an output that does not need them")
  }

  /// Checks that every node reads what is there before it, and has as many inputs and outputs as its
  /// operator takes.
  private static func requireOrder(of graph: Graph, _ registry: OperatorRegistry) throws {
    var known = Set(graph.inputs.map(\.name)).union(graph.initializers.keys)
    for node in graph.nodes {
      guard let op = registry(node) else { continue }
      try locating(node.place) {
        try checkCounts(node, op)
        for name in node.inputs where !name.isEmpty && !known.contains(name) {
          throw GraftError(.damaged, "it reads '\(name)', which nothing makes before it")
        }
      }
      known.formUnion(node.outputs)
    }
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
}

/// Calls `body` with a way to ask, from any thread, whether the current task was cancelled.
private func withCancellation<R>(_ body: (_ isCancelled: () -> Bool) throws -> R) rethrows -> R {
  try withUnsafeCurrentTask { task in
    try body { task?.isCancelled ?? false }
  }
}
