import GraftDiagnostics
import GraftGraph
import GraftTensor

/// What will compute a node, and with it perhaps some nodes behind it.
struct KernelChoice {
  let node: Node
  let op: any Operator
  /// The nodes behind `node` that its kernel does as well.
  var absorbed: [Node] = []
  var work: Work
  /// Why an accelerated kernel was not taken.
  var declined: String?

  enum Work {
    case planned(PlannedKernel)
    /// The operator's own kernel. With a layout it works element by element on all bytes of values
    /// that lie so.
    case portable(layout: (any ValueLayout)?)
    /// Output 0 is an input under another shape.
    case view(of: Int)
  }

  /// The names of the values it makes.
  var outputs: [String] {
    guard let last = absorbed.last else { return node.outputs }
    return [last.outputs.first ?? ""] + node.outputs.dropFirst()
  }
}

/// Chooses a kernel for every node of a graph whose types are known.
struct KernelChooser {
  let graph: Graph
  let types: [String: TensorType]
  let constants: [String: Tensor]
  let registry: OperatorRegistry
  let options: PlanOptions
  let threads: Int
  /// Values that must be there in the end.
  let wanted: Set<String>

  private var readers: [String: [Int]] = [:]
  private var layouts: [String: any ValueLayout] = [:]
  private var isAbsorbed: [Bool]

  init(
    _ graph: Graph, types: [String: TensorType], constants: [String: Tensor],
    registry: OperatorRegistry, options: PlanOptions, threads: Int, wanted: [String]
  ) {
    self.graph = graph
    self.types = types
    self.constants = constants
    self.registry = registry
    self.options = options
    self.threads = threads
    self.wanted = Set(wanted)
    isAbsorbed = [Bool](repeating: false, count: graph.nodes.count)
    for (index, node) in graph.nodes.enumerated() {
      for name in node.inputs where !name.isEmpty { readers[name, default: []].append(index) }
    }
  }

  /// The choices in an order in which they can run.
  mutating func choices() throws -> [KernelChoice] {
    var choices: [(position: Int, choice: KernelChoice)] = []
    for (index, node) in graph.nodes.enumerated() where !isAbsorbed[index] {
      guard let op = registry(node) else { continue }
      let chain = followers(of: index)
      let choice = try locating(node.place) { try choose(node, op, chain) }
      let absorbed = chain.prefix(choice.absorbed.count)
      for follower in absorbed { isAbsorbed[follower] = true }
      choices.append((absorbed.last ?? index, choice))
    }
    // A kernel that does later nodes as well runs where the last of them stood: what those read is
    // there by then.
    return choices.sorted { $0.position < $1.position }.map(\.choice)
  }

  private mutating func choose(_ node: Node, _ op: any Operator, _ chain: [Int]) throws
    -> KernelChoice
  {
    if let viewed = viewedInput(node, op) {
      let (input, output) = (node.inputs[viewed], node.outputs[0])
      if types[input] == types[output] { layouts[output] = layouts[input] }
      return KernelChoice(node: node, op: op, work: .view(of: viewed))
    }
    var reasons: [String] = []
    for provider in options.providers {
      do {
        let kernel = try provider.kernel(for: request(node, chain))
        var choice = KernelChoice(node: node, op: op, work: .planned(kernel))
        choice.absorbed = chain.prefix(kernel.absorbedCount).map { graph.nodes[$0] }
        for (name, layout) in zip(choice.outputs, kernel.outputLayouts) { layouts[name] = layout }
        return choice
      } catch let declined as KernelDeclined {
        reasons.append("\(provider.name): \(declined.reason)")
      }
    }
    let layout = elementwiseLayout(node, op)
    if let layout, let output = node.outputs.first { layouts[output] = layout }
    return KernelChoice(
      node: node, op: op, work: .portable(layout: layout),
      declined: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
  }

  /// The input whose elements the node's only output is.
  private func viewedInput(_ node: Node, _ op: any Operator) -> Int? {
    guard node.outputs.dropFirst().allSatisfy(\.isEmpty), let output = node.outputs.first,
      let type = types[output]
    else { return nil }
    if let viewed = op.viewedInput, viewed < node.inputs.count, !node.inputs[viewed].isEmpty {
      return viewed
    }
    return op.copiesInputOfSameType && types[node.inputs[0]] == type ? 0 : nil
  }

  /// The layout that an element-wise node can work in: that of all its inputs but for single
  /// numbers.
  private func elementwiseLayout(_ node: Node, _ op: any Operator) -> (any ValueLayout)? {
    guard op.isElementwise, node.outputs.count == 1, let output = types[node.outputs[0]] else {
      return nil
    }
    var found: (any ValueLayout)?
    for name in node.inputs where !name.isEmpty {
      guard let type = types[name], type.elementType == output.elementType else { return nil }
      if type.shape.elementCount == 1 && output.shape.elementCount != 1 { continue }
      guard type.shape == output.shape, let layout = layouts[name], layout.isDense,
        found == nil || found?.description == layout.description
      else { return nil }
      found = layout
    }
    return found
  }

  private func request(_ node: Node, _ chain: [Int]) -> KernelRequest {
    var previous = node.outputs.first ?? ""
    let followers = chain.map { index -> KernelRequest.Follower in
      let follower = graph.nodes[index]
      let position = follower.inputs.firstIndex(of: previous) ?? 0
      let inputs = follower.inputs.enumerated().map { $0 == position ? nil : planned($1) }
      previous = follower.outputs.first ?? ""
      return KernelRequest.Follower(node: follower, position: position, inputs: inputs)
    }
    return KernelRequest(
      node: node, inputs: node.inputs.map(planned),
      outputs: node.outputs.map { $0.isEmpty ? nil : types[$0] }, followers: followers,
      threads: threads)
  }

  private func planned(_ name: String) -> PlannedValue? {
    guard !name.isEmpty, let type = types[name] else { return nil }
    return PlannedValue(type, layout: layouts[name], constant: constants[name])
  }

  /// The nodes behind node `index` that form a chain with it: each the only reader of the value
  /// before it, which it keeps the type of.
  private func followers(of index: Int) -> [Int] {
    guard options.fusesKernels else { return [] }
    var chain: [Int] = []
    var value = graph.nodes[index].outputs.first ?? ""
    while chain.count < 4, !wanted.contains(value), let next = readers[value], next.count == 1,
      !isAbsorbed[next[0]]
    {
      let node = graph.nodes[next[0]]
      guard node.outputs.count == 1, let type = types[value], types[node.outputs[0]] == type else {
        break
      }
      chain.append(next[0])
      value = node.outputs[0]
    }
    return chain
  }
}
