import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  /// Decision trees and sums of them.
  static let treeStages: [String: Rule] = [
    "treeEnsembleRegressor": { assembly, stage in
      let parameters = try stage.parameters()
      let ensemble = try TreeEnsemble(try parameters.message(1))
      let rows = try assembly.rows(stage)
      let scores = try ensemble.lower(&assembly, rows)
      let isLogistic = try parameters.int(2) == 2
      try assembly.finish(
        stage, isLogistic ? assembly.graph.add("Sigmoid", [scores]) : scores)
    },
    "treeEnsembleClassifier": { assembly, stage in
      let parameters = try stage.parameters()
      guard let labels = try CoreMLLabels(parameters, strings: 100, integers: 101) else {
        throw GraftError(.damaged, "the classifier has no class labels")
      }
      let ensemble = try TreeEnsemble(try parameters.message(1))
      let rows = try assembly.rows(stage)
      let scores = try ensemble.lower(&assembly, rows)
      var probabilities = scores
      switch try parameters.int(2) {
      case 0: break
      case 1: probabilities = assembly.graph.add("Softmax", [scores], ["axis": .int(1)])
      case 2: probabilities = assembly.graph.add("Sigmoid", [scores])
      case 3:
        probabilities = assembly.graph.add(
          "Softmax", [try assembly.zeroFirst(scores)], ["axis": .int(1)])
      case let other: throw GraftError(.damaged, "its transform is number \(other)")
      }
      var count = ensemble.outputs + (try parameters.int(2) == 3 ? 1 : 0)
      if count == 1 {
        probabilities = try assembly.twoClasses(probabilities)
        count = 2
      }
      guard labels.count == count else {
        throw GraftError(
          .damaged, "\(labels.count) class labels are given for \(count) probabilities")
      }
      assembly.classify(stage, probabilities, labels)
    },
  ]
}

/// Trees as tables with one row for each node: leaves lead to themselves, so that all rows of a batch
/// can go down all trees in as many steps as the deepest tree has.
private struct TreeEnsemble {
  let outputs: Int
  private var features: [Int64] = []
  private var thresholds: [Double] = []
  private var behaviors: [Int64] = []
  private var takesMissing: [Bool] = []
  private var trueNodes: [Int64] = []
  private var falseNodes: [Int64] = []
  private var leafValues: [Double]
  private let base: [Double]
  private var roots: [Int64] = []
  private var depth = 0

  private struct Key: Hashable {
    var tree: Int
    var node: Int
  }

  private static let leaf = 6

  init(_ message: CoreMLMessage) throws {
    let nodes = try message.messages(1)
    outputs = try message.int(2)
    guard outputs > 0, outputs < 1 << 16, nodes.count < 1 << 28 else {
      throw GraftError(.damaged, "trees with \(outputs) outputs")
    }
    let base = try message.doubles(3)
    guard base.isEmpty || base.count == outputs else {
      throw GraftError(.damaged, "\(base.count) base values for \(outputs) outputs")
    }
    self.base = base
    var places: [Key: Int] = [:]
    for (index, node) in nodes.enumerated() {
      let key = Key(tree: try node.int(1), node: try node.int(2))
      guard places.updateValue(index, forKey: key) == nil else {
        throw GraftError(.damaged, "two nodes of tree \(key.tree) have the number \(key.node)")
      }
    }
    let (size, overflow) = nodes.count.multipliedReportingOverflow(by: outputs)
    guard !overflow, size < 1 << 26 else { throw GraftError(.damaged, "the trees are too large") }
    leafValues = [Double](repeating: 0, count: size)
    var isChild = [Bool](repeating: false, count: nodes.count)
    for (index, node) in nodes.enumerated() {
      try add(node, index, places, &isChild)
    }
    roots = nodes.indices.filter { !isChild[$0] }.map(Int64.init)
    depth = try Self.depth(roots, trueNodes, falseNodes)
  }

  private mutating func add(
    _ node: CoreMLMessage, _ index: Int, _ places: [Key: Int], _ isChild: inout [Bool]
  ) throws {
    let behavior = try node.int(3)
    guard (0...Self.leaf).contains(behavior) else {
      throw GraftError(.damaged, "the behaviour of a node is number \(behavior)")
    }
    behaviors.append(Int64(behavior))
    let isLeaf = behavior == Self.leaf
    let feature = try node.int(10)
    guard feature >= 0, feature < 1 << 30 else {
      throw GraftError(.damaged, "a node looks at feature \(feature)")
    }
    features.append(isLeaf ? 0 : Int64(feature))
    thresholds.append(try node.double(11))
    takesMissing.append(try node.bool(14))
    let children = try [12, 13].map { field -> Int in
      guard !isLeaf else { return index }
      let (number, key) = (
        try node.int(2), Key(tree: try node.int(1), node: try node.int(field))
      )
      guard let place = places[key], !isChild[place] else {
        throw GraftError(
          .damaged,
          "node \(number) of tree \(key.tree) leads to node \(key.node), "
            + "which is not there or belongs to another one")
      }
      isChild[place] = true
      return place
    }
    trueNodes.append(Int64(children[0]))
    falseNodes.append(Int64(children[1]))
    guard isLeaf else { return }
    for value in try node.messages(20) {
      let output = try value.int(1)
      guard (0..<outputs).contains(output) else {
        throw GraftError(.damaged, "a leaf has a value for output \(output) of \(outputs)")
      }
      leafValues[index * outputs + output] += try value.double(2)
    }
  }

  /// The steps from a root to its deepest leaf.
  private static func depth(_ roots: [Int64], _ yes: [Int64], _ no: [Int64]) throws -> Int {
    guard !roots.isEmpty else { throw GraftError(.damaged, "there is no tree") }
    var level = roots
    var depth = 0
    while true {
      let next = level.flatMap { node in
        let index = Int(node)
        return yes[index] == node ? [] : [yes[index], no[index]]
      }
      guard !next.isEmpty else { return depth }
      depth += 1
      guard depth <= 10_000 else { throw GraftError(.damaged, "a tree is too deep") }
      level = next
    }
  }

  /// The sums of the leaves' values, [batch, outputs].
  func lower(_ assembly: inout CoreMLAssembly, _ rows: String) throws -> String {
    let tables = try Tables(self, &assembly)
    let batch = assembly.graph.sizes(rows, from: 0, to: 1)
    let start = assembly.graph.initializer(
      try Tensor(roots, shape: [1, roots.count]), named: "roots")
    let shape = assembly.graph.add(
      "Concat", [batch, try assembly.graph.ints([1])], ["axis": .int(0)])
    var places = assembly.graph.add("Expand", [start, shape])
    for _ in 0..<depth { places = step(&assembly, tables, rows, places) }
    let values = try assembly.constant(
      leafValues, [features.count, outputs], named: "leaf_values")
    let chosen = assembly.graph.add("Gather", [values, places])
    let sums = assembly.graph.add(
      "ReduceSum", [chosen, try assembly.graph.ints([1])], ["keepdims": .int(0)])
    guard !base.isEmpty else { return sums }
    return assembly.graph.add(
      "Add", [sums, try assembly.constant(base, [outputs], named: "base")])
  }

  /// The tables as constants of the graph.
  private struct Tables {
    let features, thresholds, missing, yes, no: String
    /// One for each kind of comparison in use: the operator, and where it is meant.
    let comparisons: [(op: String, isNegated: Bool, nodes: String)]

    init(_ ensemble: TreeEnsemble, _ assembly: inout CoreMLAssembly) throws {
      func add<T: TensorElement>(_ values: [T], _ name: String) throws -> String {
        assembly.graph.initializer(try Tensor(values), named: name)
      }
      features = try add(ensemble.features, "features")
      thresholds = try add(ensemble.thresholds, "thresholds")
      missing = try add(ensemble.takesMissing, "missing")
      yes = try add(ensemble.trueNodes, "true_nodes")
      no = try add(ensemble.falseNodes, "false_nodes")
      let kinds: [(String, Bool)] = [
        ("LessOrEqual", false), ("Less", false), ("GreaterOrEqual", false), ("Greater", false),
        ("Equal", false), ("Equal", true),
      ]
      var comparisons: [(op: String, isNegated: Bool, nodes: String)] = []
      for (number, kind) in kinds.enumerated() {
        let isMeant = ensemble.behaviors.map { $0 == Int64(number) }
        guard isMeant.contains(true) else { continue }
        comparisons.append((kind.0, kind.1, try add(isMeant, "compares_\(number)")))
      }
      self.comparisons = comparisons
    }
  }

  /// One step down: [batch, trees] to [batch, trees].
  private func step(
    _ assembly: inout CoreMLAssembly, _ tables: Tables, _ rows: String, _ places: String
  ) -> String {
    func look(_ table: String) -> String { assembly.graph.add("Gather", [table, places]) }
    let value = assembly.graph.add(
      "GatherElements", [rows, look(tables.features)], ["axis": .int(1)])
    let threshold = look(tables.thresholds)
    var goes: String?
    for (op, isNegated, nodes) in tables.comparisons {
      var result = assembly.graph.add(op, [value, threshold])
      if isNegated { result = assembly.graph.add("Not", [result]) }
      if tables.comparisons.count > 1 {
        result = assembly.graph.add("And", [result, look(nodes)])
      }
      goes = goes.map { assembly.graph.add("Or", [$0, result]) } ?? result
    }
    let isMissing = assembly.graph.add("IsNaN", [value])
    let decided = assembly.graph.add(
      "Where", [isMissing, look(tables.missing), goes ?? isMissing])
    return assembly.graph.add("Where", [decided, look(tables.yes), look(tables.no)])
  }
}
