import GraftDiagnostics
import GraftGraph

/// One conversion of a graph and its subgraphs.
final class GraphConversion {
  /// A node that cannot be brought to the target.
  struct Failure {
    let place: String
    let reason: String
    let lowestOpset: Int
    /// Whether the operator as a whole is missing at the target.
    let isMissing: Bool
  }

  private let source: Int
  private let target: Int
  private let names: NameSource
  private let nodeNames: NameSource
  private(set) var failures: [Failure] = []

  init(_ graph: Graph, from source: Int, to target: Int) {
    self.source = source
    self.target = target
    names = NameSource(avoiding: graph.valueNames)
    nodeNames = NameSource(avoiding: Set(graph.allNodes.map(\.name)))
  }

  func convert(_ graph: Graph) throws -> Graph { try convert(graph, around: nil) }

  private func convert(_ graph: Graph, around outer: ValueFacts?) throws -> Graph {
    var rewriter = NodeRewriter(
      facts: ValueFacts(graph, around: outer), isUpgrade: source < target, names: names,
      nodeNames: nodeNames)
    var result = graph
    result.nodes = []
    result.nodes.reserveCapacity(graph.nodes.count)
    for node in graph.nodes {
      var node = node
      try locating(node.place) {
        try convertSubgraphs(of: &node, rewriter.facts)
        rewriter.learn(node)
        try convert(node, place: node.place, Stage(node.op, source), &rewriter, &result.nodes)
      }
    }
    for (name, tensor) in rewriter.initializers { result.initializers[name] = tensor }
    result.removeUnread(rewriter.facts.reads.union(rewriter.constantNames))
    return result
  }

  private func convertSubgraphs(of node: inout Node, _ facts: ValueFacts) throws {
    // In a fixed order, since it decides the names of new values.
    for (name, attribute) in node.attributes.sorted(by: { $0.key < $1.key }) {
      switch attribute {
      case .graph(let graph): node.attributes[name] = .graph(try convert(graph, around: facts))
      case .graphs(let graphs):
        node.attributes[name] = .graphs(try graphs.map { try convert($0, around: facts) })
      default: break
      }
    }
  }

  /// Applies the rules between `stage` and the target, one after the other, to the node and to the
  /// nodes that come out of it.
  private func convert(
    _ node: Node, place: String, _ stage: Stage, _ rewriter: inout NodeRewriter,
    _ result: inout [Node]
  ) throws {
    guard node.domain.isEmpty,
      let rule = source < target ? stage.nextUp(to: target) : stage.nextDown(to: target)
    else {
      noteIfMissing(node, place)
      result.append(node)
      return
    }
    do {
      try (source < target ? rule.upgrade : rule.downgrade)(node, &rewriter)
    } catch let error as NeedsNewerOpset {
      _ = rewriter.takeEmitted()
      failures.append(
        Failure(
          place: place, reason: error.reason, lowestOpset: rule.version, isMissing: false))
      result.append(node)
      return
    }
    for emitted in rewriter.takeEmitted() {
      let next =
        emitted.op == node.op
        ? stage.passed(up: source < target)
        : Stage(emitted.op, source < target ? rule.version : rule.version - 1)
      try convert(emitted, place: place, next, &rewriter, &result)
    }
  }

  private func noteIfMissing(_ node: Node, _ place: String) {
    guard node.domain.isEmpty, let first = firstOpset[node.op], first > target else { return }
    failures.append(
      Failure(
        place: place, reason: "the operator \(node.op) is newer", lowestOpset: first,
        isMissing: true))
  }
}

/// Between which two of an operator's rules a node stands.
private struct Stage {
  private let rules: [OpsetRule]
  /// How many of the rules lie below.
  private var below: Int

  /// The stage of a node in the form of `opset`.
  init(_ op: String, _ opset: Int) {
    rules = opsetRules[op] ?? []
    below = rules.firstIndex { $0.version > opset } ?? rules.count
  }

  func nextUp(to target: Int) -> OpsetRule? {
    below < rules.count && rules[below].version <= target ? rules[below] : nil
  }

  func nextDown(to target: Int) -> OpsetRule? {
    below > 0 && rules[below - 1].version > target ? rules[below - 1] : nil
  }

  func passed(up: Bool) -> Stage {
    var stage = self
    stage.below += up ? 1 : -1
    return stage
  }
}

extension Graph {
  /// Removes those of the constants `names` that only forms of nodes read which are gone.
  fileprivate mutating func removeUnread(_ names: Set<String>) {
    let unread = names.subtracting(allReads)
    guard !unread.isEmpty else { return }
    nodes.removeAll { $0.op == "Constant" && $0.domain.isEmpty && unread.contains($0.output(0)) }
    let inputNames = Set(inputs.map(\.name))
    initializers = initializers.filter { name, _ in
      !unread.contains(name) || inputNames.contains(name)
    }
  }
}
