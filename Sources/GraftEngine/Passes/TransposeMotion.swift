import GraftGraph
import GraftTensor

/// Makes one Transpose of two with nothing but element-wise nodes of one value between them; none
/// when they cancel each other.
package struct TransposeMotion: GraphPass {
  package let name = "transpose motion"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    guard graph.nodes.allSatisfy(\.subgraphs.isEmpty) else { return }
    var motion = Motion(graph, kept, registry)
    motion.visitAll()
    if motion.hasChanged { graph = motion.graph.pruned(to: graph.outputs) }
  }
}

private struct Motion {
  private(set) var graph: Graph
  private(set) var hasChanged = false
  private let kept: Set<String>
  private let registry: OperatorRegistry
  private var producers: [String: Int]
  private var readerCounts: [String: Int] = [:]
  /// Values that are others now.
  private var sources: [String: String] = [:]

  init(_ graph: Graph, _ kept: Set<String>, _ registry: OperatorRegistry) {
    self.graph = graph
    self.kept = kept
    self.registry = registry
    producers = graph.producers
    for name in graph.nodes.flatMap(\.reads) { readerCounts[name, default: 0] += 1 }
  }

  mutating func visitAll() {
    for position in graph.nodes.indices {
      graph.nodes[position].inputs = graph.nodes[position].inputs.map { sources[$0] ?? $0 }
      let node = graph.nodes[position]
      guard node.isTranspose else { continue }
      if let (first, between) = transpose(before: node),
        let order = AxisOrder(graph.nodes[first], then: node)
      {
        merge(first, between, position, order)
      } else if let order = AxisOrder(node), order.isIdentity {
        remove(position, for: node.inputs[0])
      }
    }
  }

  /// The Transpose that the input of another comes from, and the element-wise nodes that it passes on
  /// the way, the last first.
  private func transpose(before node: Node) -> (first: Int, between: [Int])? {
    var between: [Int] = []
    var value = node.inputs[0]
    while let index = producers[value] {
      let producer = graph.nodes[index]
      if producer.isTranspose {
        return between.isEmpty || isInner(value) ? (index, between) : nil
      }
      guard isInner(value), let argument = argument(of: producer) else { return nil }
      between.append(index)
      value = argument
    }
    return nil
  }

  /// Whether one node reads the value and nobody else needs it.
  private func isInner(_ value: String) -> Bool {
    readerCounts[value] == 1 && !kept.contains(value)
  }

  /// The only input of an element-wise node that is not a constant number.
  private func argument(of node: Node) -> String? {
    guard node.outputs.count == 1, registry(node)?.isElementwise == true else { return nil }
    let variables = node.inputs.filter { !$0.isEmpty && !isNumber($0) }
    return variables.count == 1 ? variables[0] : nil
  }

  /// Whether a value is a constant number, which adds no axes to the result.
  private func isNumber(_ value: String) -> Bool {
    guard let constant = graph.initializers[value] else { return false }
    return constant.elementCount == 1 && constant.shape.rank <= 1
  }

  private mutating func merge(_ first: Int, _ between: [Int], _ last: Int, _ order: AxisOrder) {
    let source = graph.nodes[first].inputs[0]
    let transposed = graph.nodes[first].outputs[0]
    let second = graph.nodes[last]
    let reader = between.last ?? last
    graph.nodes[reader].inputs = graph.nodes[reader].inputs.map { $0 == transposed ? source : $0 }
    readerCounts[source, default: 0] += 1
    readerCounts[transposed, default: 0] -= 1
    if readerCounts[transposed] == 0, !kept.contains(transposed) {
      readerCounts[source, default: 0] -= 1
    }
    hasChanged = true
    guard order.isIdentity else {
      graph.nodes[last].attributes["perm"] = .ints(order.axes)
      return
    }
    guard let end = between.first else { return remove(last, for: source) }
    // The last node between makes what the second Transpose made.
    let output = second.outputs[0]
    producers[output] = end
    graph.nodes[end].outputs = [output]
    detach(last)
  }

  /// Lets the readers of a node's output read another value.
  private mutating func remove(_ position: Int, for source: String) {
    let node = graph.nodes[position]
    let output = node.outputs[0]
    hasChanged = true
    if kept.contains(output) {
      graph.nodes[position] = Node(
        "Identity", name: node.name, inputs: [source], outputs: [output])
    } else {
      sources[output] = source
      readerCounts[source, default: 0] += (readerCounts[output] ?? 0) - 1
      detach(position)
    }
  }

  /// Leaves a node without readers, which pruning takes out.
  private mutating func detach(_ position: Int) {
    graph.nodes[position].outputs = [""]
  }
}

/// The order of axes that a Transpose makes.
private struct AxisOrder {
  /// Empty for the identity of any rank.
  let axes: [Int]

  var isIdentity: Bool { axes.indices.allSatisfy { axes[$0] == $0 } }

  /// That of one node; nil when it depends on the rank.
  init?(_ node: Node) {
    guard let axes = Self.axes(of: node), Self.areValid(axes) else { return nil }
    self.axes = axes
  }

  /// That of one node behind another; nil when it depends on the rank, or one of them is wrong.
  init?(_ first: Node, then second: Node) {
    guard let rank = (Self.axes(of: first) ?? Self.axes(of: second))?.count else {
      // Both turn the order around.
      axes = []
      return
    }
    let reversed = Array((0..<rank).reversed())
    let inner = Self.axes(of: first) ?? reversed
    let outer = Self.axes(of: second) ?? reversed
    guard Self.areValid(inner), Self.areValid(outer), inner.count == outer.count else { return nil }
    axes = outer.map { inner[$0] }
  }

  private static func axes(of node: Node) -> [Int]? {
    if case .ints(let axes)? = node.attributes["perm"] { axes } else { nil }
  }

  private static func areValid(_ axes: [Int]) -> Bool { axes.sorted() == Array(axes.indices) }
}

extension Node {
  fileprivate var isTranspose: Bool {
    domain.isEmpty && op == "Transpose" && inputs.count == 1 && outputs.count == 1
  }
}
