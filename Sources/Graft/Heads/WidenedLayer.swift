import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A fully connected layer that is to get more outputs.
struct WidenedLayer {
  let head: HeadLayer
  /// One row for each class.
  private let rows: [[Float]]
  let bias: [Float]
  /// Whether the weight lies as [classes, inputs] in the model.
  private let isTransposed: Bool
  /// The node that has to get a bias; nil when there is one.
  let nodeWithoutBias: Int?

  var classCount: Int { bias.count }

  /// - Throws: `unsupported` when the layer is not float32 or scales its parts.
  init(_ head: HeadLayer, in graph: Graph) throws {
    self.head = head
    let node = graph.nodes[head.nodes[0]]
    guard let weight = graph.initializers[head.weightName], weight.elementType == .float32 else {
      throw GraftError(
        .unsupported, "the weight of \(node.place) is not float32",
        fix: "Use replaceHead, which makes a new one")
    }
    for name in ["alpha", "beta"] where try node.float(name, default: 1) != 1 {
      throw GraftError(
        .unsupported, "\(node.place) has the factor \(name)",
        fix: "Use replaceHead, which makes a layer without factors")
    }
    guard try node.int("transA", default: 0) == 0 else {
      throw GraftError(.unsupported, "\(node.place) transposes its input")
    }
    isTransposed = try node.int("transB", default: 0) == 1
    let count = isTransposed ? weight.shape[0] : weight.shape[1]
    let values = try weight.values(as: Float.self)
    let isTransposed = isTransposed
    let inputs = head.inputCount
    rows = (0..<count).map { row in
      (0..<inputs).map { values[isTransposed ? row * inputs + $0 : $0 * count + row] }
    }
    if let bias = graph.initializers[head.biasName] {
      guard bias.elementType == .float32, bias.elementCount == count else {
        throw GraftError(
          .unsupported, "the bias of \(node.place) has shape \(bias.shape), not [\(count)]",
          fix: "Use replaceHead, which makes a new one")
      }
      self.bias = try bias.values(as: Float.self)
      nodeWithoutBias = nil
    } else {
      bias = [Float](repeating: 0, count: count)
      nodeWithoutBias = head.nodes[0]
    }
  }

  /// The mean of features [examples, inputs], or of anything that flattens to it.
  func mean(of features: Tensor) throws -> [Double] {
    let count = head.inputCount
    guard features.elementCount > 0, features.elementCount.isMultiple(of: count),
      features.elementType == .float32
    else {
      throw GraftError(
        .shapeMismatch,
        "features of \(features.elementType) \(features.shape) do not flatten to [examples, \(count)]",
        fix: "Give what goes into the layer '\(head.weightName)', as float32")
    }
    guard features.isFinite else {
      throw GraftError(.badData, "the features hold a value that is no finite number")
    }
    let values = try features.values(as: Float.self)
    var mean = [Double](repeating: 0, count: count)
    for (index, value) in values.enumerated() { mean[index % count] += Double(value) }
    return mean.map { $0 / Double(values.count / count) }
  }

  /// The rows of new classes.
  ///
  /// - Parameters:
  ///   - means: of classes' features, by label, new and old.
  ///   - old: the labels of the classes that are there.
  func newRows(
    _ classes: [String], means: [String: [Double]], old: [String], generator: SeededGenerator
  ) -> [(weight: [Float], bias: Float)] {
    var generator = generator
    let known = old.compactMap { means[$0] }
    let centre = known.isEmpty ? [Double](repeating: 0, count: head.inputCount) : average(known)
    return classes.map { label in
      var start = average(rows.map { $0.map(Double.init) })
      var offset = bias.reduce(0) { $0 + Double($1) } / Double(max(1, bias.count))
      if let mean = means[label] { move(&start, &offset, towards: mean, from: centre) }
      let noise = 1e-3 * meanMagnitude
      return (
        start.map { Float($0 + noise * (generator.uniform() * 2 - 1)) }, Float(offset)
      )
    }
  }

  /// Adds a slope to a row that makes its logit the largest at `mean` and the same amount smaller at
  /// `centre`.
  private func move(
    _ row: inout [Double], _ offset: inout Double, towards mean: [Double], from centre: [Double]
  ) {
    let direction = zip(mean, centre).map { $0 - $1 }
    let square = direction.reduce(0) { $0 + $1 * $1 }
    guard square > 0 else { return }
    func product(_ a: [Double], _ b: [Double]) -> Double {
      zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
    }
    let logits = zip(rows, bias).map { product($0.map(Double.init), mean) + Double($1) }
    let margin = (logits.max() ?? 0) - (product(row, mean) + offset) + 1
    for index in row.indices { row[index] += 2 * margin * direction[index] / square }
    let middle = zip(mean, centre).map { ($0 + $1) / 2 }
    offset -= 2 * margin * product(direction, middle) / square
  }

  private var meanMagnitude: Double {
    let sum = rows.reduce(0.0) { $0 + $1.reduce(0.0) { $0 + Double($1.magnitude) } }
    return sum / Double(max(1, rows.count * head.inputCount))
  }

  private func average(_ vectors: [[Double]]) -> [Double] {
    var sum = [Double](repeating: 0, count: head.inputCount)
    for vector in vectors { for index in sum.indices { sum[index] += vector[index] } }
    return sum.map { $0 / Double(max(1, vectors.count)) }
  }

  /// The weight in the model's order with rows added.
  func weight(adding added: [[Float]]) throws -> Tensor {
    let all = rows + added
    if isTransposed {
      return try Tensor(all.flatMap { $0 }, shape: [all.count, head.inputCount])
    }
    let values = (0..<head.inputCount).flatMap { column in all.map { $0[column] } }
    return try Tensor(values, shape: [head.inputCount, all.count])
  }
}
