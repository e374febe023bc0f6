import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  /// Nearest-neighbour classifiers.
  static let neighborStages: [String: Rule] = [
    "kNearestNeighborsClassifier": { assembly, stage in
      try NeighborModel(stage).lower(&assembly)
    }
  ]
}

/// A nearest-neighbour classifier; distances are compared with all samples, whatever the index.
private struct NeighborModel {
  let stage: CoreMLStage
  let samples: [[Float]]
  let labels: CoreMLLabels
  /// The labels that occur, sorted: the order of the scores.
  let classes: CoreMLLabels
  /// For every sample: its class.
  let classOfSample: [Int]
  let section: NeighborSection

  init(_ stage: CoreMLStage) throws {
    self.stage = stage
    let parameters = try stage.parameters()
    let index = try parameters.message(1)
    samples = try index.messages(2).map { try $0.floats(1) }
    let stored = try CoreMLLabels(parameters, strings: 100, integers: 101)
    labels = stored ?? (parameters.has(111) ? .integers([]) : .strings([]))
    let dimension = try Self.dimension(index, samples)
    guard samples.allSatisfy({ $0.count == dimension }), labels.count == samples.count else {
      throw GraftError(
        .damaged, "\(samples.count) samples of \(dimension) numbers and \(labels.count) labels")
    }
    let sorted = Self.classes(of: labels)
    classes = sorted.0
    classOfSample = sorted.1
    let isText: Bool
    if case .strings = labels { isText = true } else { isText = false }
    section = NeighborSection(
      dimension: dimension, sampleLabels: labels,
      defaultLabel: isText
        ? .strings([try parameters.string(110)]) : .integers([try parameters.int(111)]),
      neighborCount: try UpdateParameter(
        "numberOfNeighbors", try parameters.message(3), isWhole: true),
      weighting: parameters.has(210) ? .inverseDistance : .uniform,
      index: index.has(110) ? .kdTree(leafSize: try index.message(110).int(1)) : .linear,
      samples: "neighbors.samples")
  }

  private static func dimension(_ index: CoreMLMessage, _ samples: [[Float]]) throws -> Int {
    let dimension = try index.int(1)
    guard dimension > 0, dimension < 1 << 24 else {
      throw GraftError(.damaged, "samples of \(dimension) numbers")
    }
    return dimension
  }

  private static func classes(of labels: CoreMLLabels) -> (CoreMLLabels, [Int]) {
    switch labels {
    case .strings(let labels):
      let sorted = Set(labels).sorted()
      let places = Dictionary(uniqueKeysWithValues: zip(sorted, sorted.indices))
      return (.strings(sorted), labels.map { places[$0] ?? 0 })
    case .integers(let labels):
      let sorted = Set(labels).sorted()
      let places = Dictionary(uniqueKeysWithValues: zip(sorted, sorted.indices))
      return (.integers(sorted), labels.map { places[$0] ?? 0 })
    }
  }

  func lower(_ assembly: inout CoreMLAssembly) throws {
    let name = stage.description.inputs.first?.name ?? ""
    let value = try assembly.value(name)
    let rows = assembly.graph.cast(
      try assembly.graph.reshaped(value, [-1, section.dimension]), to: .float32)
    assembly.neighbors = section
    assembly.neighbors?.features = rows
    guard !samples.isEmpty else { return try lowerEmpty(&assembly, rows) }
    let count = min(samples.count, max(1, Int(exactly: section.neighborCount.defaultValue) ?? 1))
    let stored = assembly.graph.initializer(
      try Tensor(samples.flatMap { $0 }, shape: [samples.count, section.dimension]),
      named: section.samples)
    assembly.neighbors?.samples = stored
    let each = assembly.graph.add("Unsqueeze", [rows, try assembly.graph.ints([1])])
    let distances = assembly.graph.add(
      "ReduceSumSquare",
      [assembly.graph.add("Sub", [each, stored]), try assembly.graph.ints([2])],
      ["keepdims": .int(0)])
    let nearest = assembly.graph.add(
      "TopK", [distances, try assembly.graph.ints([count])], ["largest": .int(0)],
      outputs: ["squared_distances", "neighbors"])
    let scores = try scores(&assembly, nearest)
    assembly.classify(stage, scores, classes)
  }

  /// Shares of the classes among the neighbours, [batch, classes].
  private func scores(_ assembly: inout CoreMLAssembly, _ nearest: [String]) throws -> String {
    let table = assembly.graph.initializer(
      try Tensor(classOfSample.map(Int64.init)), named: "neighbors.classes")
    let offOn = assembly.graph.initializer(try Tensor([0, 1] as [Float]), named: "off_on")
    var votes = assembly.graph.add(
      "OneHot",
      [
        assembly.graph.add("Gather", [table, nearest[1]]),
        try assembly.graph.int(classes.count), offOn,
      ])
    if section.weighting == .inverseDistance {
      // A sample at the very place outweighs all others.
      let least = try assembly.graph.number(1e-30)
      let distance = assembly.graph.add(
        "Sqrt", [assembly.graph.add("Max", [nearest[0], least])])
      let weights = assembly.graph.add(
        "Unsqueeze",
        [assembly.graph.add("Reciprocal", [distance]), try assembly.graph.ints([2])])
      votes = assembly.graph.add("Mul", [votes, weights])
    }
    let sums = assembly.graph.add(
      "ReduceSum", [votes, try assembly.graph.ints([1])], ["keepdims": .int(0)])
    let total = assembly.graph.add(
      "ReduceSum", [sums, try assembly.graph.ints([1])], ["keepdims": .int(1)])
    return assembly.graph.add("Div", [sums, total])
  }

  /// An index without samples gives the default label to everything, with certainty.
  private func lowerEmpty(_ assembly: inout CoreMLAssembly, _ rows: String) throws {
    let batch = assembly.graph.sizes(rows, from: 0, to: 1)
    let shape = assembly.graph.add(
      "Concat", [batch, try assembly.graph.ints([1])], ["axis": .int(0)])
    let scores = assembly.graph.add("Expand", [try assembly.graph.number(1), shape])
    assembly.classify(stage, scores, section.defaultLabel)
  }
}
