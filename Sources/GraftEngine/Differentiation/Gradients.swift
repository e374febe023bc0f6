import GraftDiagnostics
import GraftGraph
import GraftTensor

extension Graph {
  /// The graph with nodes added that compute the gradient of a scalar.
  ///
  /// Only what the wanted gradients need is built. A value read several times gets the sum of its
  /// readers' gradients; gradients of inputs that broadcast are summed back to their shape.
  ///
  /// - Parameters:
  ///   - loss: the name of the scalar.
  ///   - sources: names of initializers, inputs or inner values.
  /// - Returns: the graph, and for each source the name of its gradient; a source that does not
  ///   influence the loss is left out.
  /// - Throws: `unsupported` naming a node on the way that has no gradient.
  package func differentiated(
    _ loss: String, withRespectTo sources: [String], registry: OperatorRegistry
  ) throws -> (graph: Graph, gradients: [String: String]) {
    var graph = self
    let seed = graph.addOnes(like: loss)
    return try graph.differentiated(
      seeds: [loss: seed], withRespectTo: sources, registry: registry)
  }

  /// The graph with nodes added that carry given gradients of some values back to the sources.
  ///
  /// - Parameter seeds: for each value the name of the value that is its gradient.
  package func differentiated(
    seeds: [String: String], withRespectTo sources: [String], registry: OperatorRegistry
  ) throws -> (graph: Graph, gradients: [String: String]) {
    var pass = BackwardPass(graph: self, sources: Set(sources), registry: registry)
    try pass.run(seeds)
    let gradients = pass.gradients(of: sources)
    var graph = self
    graph.nodes += pass.added
    return (graph, gradients)
  }

  private mutating func addOnes(like value: String) -> String {
    let names = NameSource(avoiding: valueNames)
    let one = names.fresh("gradient/one")
    let shape = names.fresh("gradient/shape")
    let ones = names.fresh("gradient/ones")
    nodes += [
      Node(
        "Constant", inputs: [], outputs: [one], attributes: ["value_float": .float(1)]),
      Node("CastLike", inputs: [one, value], outputs: [ones]),
      Node("Shape", inputs: [value], outputs: [shape]),
    ]
    let seed = names.fresh("gradient/seed")
    nodes.append(Node("Expand", inputs: [ones, shape], outputs: [seed]))
    return seed
  }
}

/// Walks over a graph from a loss back to the sources and collects gradient nodes.
private struct BackwardPass {
  let graph: Graph
  let registry: OperatorRegistry
  let names: NameSource
  /// Values that change when a source changes.
  let active: Set<String>
  private(set) var added: [Node] = []
  /// Gradients found so far, still to be added up.
  private var contributions: [String: [String]] = [:]

  init(graph: Graph, sources: Set<String>, registry: OperatorRegistry) {
    self.graph = graph
    self.registry = registry
    names = NameSource(avoiding: graph.valueNames)
    active = Self.activeValues(graph, sources, registry)
  }

  private static func activeValues(
    _ graph: Graph, _ sources: Set<String>, _ registry: OperatorRegistry
  ) -> Set<String> {
    var active = sources
    for node in graph.nodes where node.reads.contains(where: active.contains) {
      if case .zero? = registry(node)?.differentiation { continue }
      active.formUnion(node.outputs.filter { !$0.isEmpty })
    }
    return active
  }

  mutating func run(_ seeds: [String: String]) throws {
    for (value, seed) in seeds where active.contains(value) { contributions[value] = [seed] }
    for node in graph.nodes.reversed() where node.reads.contains(where: active.contains) {
      guard node.outputs.contains(where: { contributions[$0] != nil }) else { continue }
      try locating(node.place) { try visit(node) }
    }
  }

  mutating func gradients(of sources: [String]) -> [String: String] {
    var result: [String: String] = [:]
    for source in sources { result[source] = sum(source) }
    return result
  }

  private mutating func visit(_ node: Node) throws {
    guard let op = registry(node) else {
      throw GraftError(.unsupported, "the operator is unknown, so no gradient passes it")
    }
    let wanted = node.inputs.map { !$0.isEmpty && active.contains($0) }
    switch op.differentiation {
    case .zero: return
    case .unavailable(let reason):
      throw GraftError(
        .unsupported, "no gradient passes \(op.qualifiedName): \(reason)",
        fix: "Train only parameters that lie behind this node")
    case .rule(let rule):
      guard wanted.contains(true) else {
        throw GraftError(
          .unsupported, "no gradient passes the graphs inside \(op.qualifiedName)",
          fix: "Train only parameters that lie behind this node")
      }
      var builder = GradientBuilder(
        node: node, outputGradients: node.outputs.map { sum($0) }, wanted: wanted, names: names)
      let gradients = try rule(&builder)
      added += builder.addedNodes
      for (index, input) in node.inputs.enumerated() where wanted[index] {
        guard index < gradients.count, let gradient = gradients[index] else { continue }
        let fitted = op.broadcasts ? addSum(of: gradient, toShapeOf: input) : gradient
        contributions[input, default: []].append(fitted)
      }
    }
  }

  /// The sum of all gradients of a value; nil when none flows.
  private mutating func sum(_ name: String) -> String? {
    guard let terms = contributions[name], let first = terms.first else { return nil }
    if terms.count == 1 { return first }
    let total = names.fresh("gradient/sum")
    added.append(Node("Sum", inputs: terms, outputs: [total]))
    contributions[name] = [total]
    return total
  }

  private mutating func addSum(of gradient: String, toShapeOf value: String) -> String {
    let name = names.fresh("gradient/summed")
    added.append(
      Node("SumToShape", domain: graftDomain, inputs: [gradient, value], outputs: [name]))
    return name
  }
}
