import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  /// Support vector machines.
  static let vectorMachineStages: [String: Rule] = [
    "supportVectorRegressor": { assembly, stage in
      let parameters = try stage.parameters()
      let rows = try assembly.rows(stage)
      let vectors = try SupportVectors(parameters, sparse: 2, dense: 3, rows: stage.rowSize())
      let kernel = try vectors.kernel(&assembly, try parameters.message(1), rows)
      let alphas = try parameters.message(4).doubles(1)
      guard alphas.count == vectors.count else {
        throw GraftError(.damaged, "\(alphas.count) factors for \(vectors.count) vectors")
      }
      let weights = try assembly.constant(alphas, [alphas.count, 1], named: "alpha")
      let sums = assembly.graph.add("MatMul", [kernel, weights])
      let rho = try assembly.number(try parameters.double(5))
      try assembly.finish(stage, assembly.graph.add("Sub", [sums, rho]))
    },
    "supportVectorClassifier": { assembly, stage in
      try VectorClassifier(stage).lower(&assembly)
    },
  ]
}

extension CoreMLStage {
  /// How many numbers a row has, where the inputs say so.
  fileprivate func rowSize() -> Int? {
    var sum = 0
    for feature in description.inputs {
      switch feature.type {
      case .array(let array):
        guard array.shape.count == 1, array.shape[0] < 1 << 24 else { return nil }
        sum += array.shape[0]
      case .double, .int64: sum += 1
      default: return nil
      }
    }
    return sum
  }
}

/// The vectors of a machine, one in each row.
private struct SupportVectors {
  let count: Int
  let size: Int
  private var values: [Double] = []

  init(_ message: CoreMLMessage, sparse: Int, dense: Int, rows: Int?) throws {
    if message.has(dense) {
      let vectors = try message.message(dense).messages(1).map { try $0.doubles(1) }
      guard let size = vectors.first?.count, vectors.allSatisfy({ $0.count == size }) else {
        throw GraftError(.damaged, "its vectors are of different sizes, or there are none")
      }
      count = vectors.count
      self.size = size
      values = vectors.flatMap { $0 }
      return
    }
    let vectors = try message.message(sparse).messages(1).map { vector in
      try vector.messages(1).map { (index: try $0.int(1), value: try $0.double(2)) }
    }
    let largest = vectors.joined().map(\.index).max() ?? 0
    let smallest = vectors.joined().map(\.index).min() ?? 1
    guard smallest >= 1, largest < 1 << 24 else {
      throw GraftError(.damaged, "a vector has a number at a place below 1")
    }
    let size = max(largest, rows ?? largest)
    let (total, overflow) = size.multipliedReportingOverflow(by: vectors.count)
    guard !overflow, total < 1 << 26, !vectors.isEmpty else {
      throw GraftError(.damaged, "\(vectors.count) vectors of \(size) numbers")
    }
    count = vectors.count
    self.size = size
    values = [Double](repeating: 0, count: total)
    for (row, vector) in vectors.enumerated() {
      for (index, value) in vector { values[row * size + index - 1] = value }
    }
  }

  /// The kernel of every row with every vector, [batch, vectors].
  func kernel(_ assembly: inout CoreMLAssembly, _ message: CoreMLMessage, _ rows: String) throws
    -> String
  {
    let vectors = try assembly.constant(values, [count, size], named: "vectors")
    if message.has(2) {
      let gamma = try message.message(2).double(1)
      let each = assembly.graph.add("Unsqueeze", [rows, try assembly.graph.ints([1])])
      let differences = assembly.graph.add("Sub", [each, vectors])
      let distances = assembly.graph.add(
        "ReduceSumSquare", [differences, try assembly.graph.ints([2])], ["keepdims": .int(0)])
      let scaled = assembly.graph.add("Mul", [distances, try assembly.number(-gamma)])
      return assembly.graph.add("Exp", [scaled])
    }
    let products = assembly.graph.add(
      "MatMul", [rows, assembly.graph.transposed(vectors, [1, 0])])
    func shifted(_ gamma: Double, _ constant: Double) throws -> String {
      let scaled = assembly.graph.add("Mul", [products, try assembly.number(gamma)])
      return assembly.graph.add("Add", [scaled, try assembly.number(constant)])
    }
    if message.has(3) {
      let options = try message.message(3)
      let base = try shifted(try options.double(3), try options.double(2))
      return assembly.graph.add(
        "Pow", [base, try assembly.number(Double(try options.int(1)))])
    }
    if message.has(4) {
      let options = try message.message(4)
      return assembly.graph.add(
        "Tanh", [try shifted(try options.double(1), try options.double(2))])
    }
    return products
  }
}

/// A classifier of one machine for every pair of classes.
private struct VectorClassifier {
  private let stage: CoreMLStage
  private let parameters: CoreMLMessage
  private let labels: CoreMLLabels
  private let counts: [Int]

  init(_ stage: CoreMLStage) throws {
    self.stage = stage
    parameters = try stage.parameters()
    labels = try CoreMLLabels(parameters, strings: 100, integers: 101).orThrow {
      GraftError(.damaged, "the classifier has no class labels")
    }
    counts = try parameters.ints(2)
    guard counts.count == labels.count, counts.count >= 2, counts.count < 4096,
      counts.allSatisfy({ 0...1 << 24 ~= $0 })
    else {
      throw GraftError(
        .damaged, "\(labels.count) class labels, and vectors of \(counts.count) classes")
    }
  }

  func lower(_ assembly: inout CoreMLAssembly) throws {
    let vectors = try SupportVectors(parameters, sparse: 3, dense: 4, rows: stage.rowSize())
    let rows = try assembly.rows(stage)
    let kernel = try vectors.kernel(&assembly, try parameters.message(1), rows)
    let decisions = try decisions(&assembly, kernel, vectors.count)
    let (probA, probB) = (try parameters.doubles(7), try parameters.doubles(8))
    let pairs = pairs.count
    guard probA.count == probB.count, [0, pairs].contains(probA.count) else {
      throw GraftError(.damaged, "\(probA.count) constants of probabilities for \(pairs) pairs")
    }
    if probA.isEmpty {
      let votes = try votes(&assembly, decisions)
      let best = assembly.graph.add("ArgMax", [votes], ["axis": .int(1), "keepdims": .int(0)])
      assembly.classify(stage, votes, labels, best: best)
      return
    }
    let probabilities = try probabilities(&assembly, decisions, probA, probB)
    assembly.classify(stage, probabilities, labels)
  }

  private var pairs: [(Int, Int)] {
    counts.indices.flatMap { first in
      (first + 1..<max(first + 1, counts.count)).map { (first, $0) }
    }
  }

  /// One number for each pair: positive for the first class; [batch, pairs].
  private func decisions(_ assembly: inout CoreMLAssembly, _ kernel: String, _ vectors: Int) throws
    -> String
  {
    let factors = try parameters.messages(5).map { try $0.doubles(1) }
    let rho = try parameters.doubles(6)
    let pairs = pairs
    guard counts.reduce(0, +) == vectors, factors.count == counts.count - 1,
      factors.allSatisfy({ $0.count == vectors }), rho.count == pairs.count
    else {
      throw GraftError(
        .damaged, "\(vectors) vectors, factors of \(factors.count) classes, \(rho.count) offsets")
    }
    let starts = counts.indices.map { counts[..<$0].reduce(0, +) }
    var weights = [Double](repeating: 0, count: vectors * pairs.count)
    for (column, (first, second)) in pairs.enumerated() {
      for row in starts[first]..<starts[first] + counts[first] {
        weights[row * pairs.count + column] = factors[second - 1][row]
      }
      for row in starts[second]..<starts[second] + counts[second] {
        weights[row * pairs.count + column] = factors[first][row]
      }
    }
    let matrix = try assembly.constant(weights, [vectors, pairs.count], named: "factors")
    let sums = assembly.graph.add("MatMul", [kernel, matrix])
    return assembly.graph.add(
      "Sub", [sums, try assembly.constant(rho, [pairs.count], named: "rho")])
  }

  /// How many pairs each class wins, [batch, classes].
  private func votes(_ assembly: inout CoreMLAssembly, _ decisions: String) throws -> String {
    let isFirst = assembly.graph.cast(
      assembly.graph.add("Greater", [decisions, try assembly.number(0)]), to: .float64)
    let pairs = pairs
    var gains = [Double](repeating: 0, count: pairs.count * counts.count)
    var losses = gains
    for (row, (first, second)) in pairs.enumerated() {
      gains[row * counts.count + first] = 1
      losses[row * counts.count + second] = 1
    }
    let shape: Shape = [pairs.count, counts.count]
    let won = assembly.graph.add(
      "MatMul", [isFirst, try assembly.constant(gains, shape, named: "firsts")])
    let lost = assembly.graph.add(
      "MatMul",
      [
        try assembly.complement(isFirst), try assembly.constant(losses, shape, named: "seconds"),
      ])
    return assembly.graph.add("Add", [won, lost])
  }

  /// The probabilities of the classes from those of all pairs, [batch, classes].
  private func probabilities(
    _ assembly: inout CoreMLAssembly, _ decisions: String, _ probA: [Double], _ probB: [Double]
  ) throws -> String {
    let pairs = pairs
    let shape: Shape = [pairs.count]
    let scaled = assembly.graph.add(
      "Mul", [decisions, try assembly.constant(probA.map { -$0 }, shape, named: "slope")])
    let shifted = assembly.graph.add(
      "Add", [scaled, try assembly.constant(probB.map { -$0 }, shape, named: "offset")])
    let pairwise = assembly.graph.add(
      "Clip",
      [
        assembly.graph.add("Sigmoid", [shifted]), try assembly.number(1e-7),
        try assembly.number(1 - 1e-7),
      ])
    if counts.count == 2 {
      return assembly.graph.add(
        "Concat", [pairwise, try assembly.complement(pairwise)], ["axis": .int(1)])
    }
    return assembly.graph.add(
      "PairwiseCoupling", [pairwise], ["classes": .int(counts.count)], domain: graftDomain)
  }
}
