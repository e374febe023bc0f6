import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftTensor

extension Model {
  /// Replaces the last fully connected layer by a fresh one with one output per class.
  ///
  /// A quantised model is dequantised first, and a convolution of a single pixel counts as fully
  /// connected. What follows the layer, such as a softmax, is removed: the model's only output
  /// becomes the layer's logits [batch, classes], under the name of the output it had. The classes
  /// are kept in the model as its labels.
  ///
  /// - Parameters:
  ///   - name: the layer's node, or what its weight's name begins with; the last fully connected
  ///     layer before the first output when nil.
  ///   - classes: the labels, at least two.
  ///   - seed: of the new weights, which are uniform within 1 / sqrt(inputs).
  /// - Returns: the names of the new weight [classes, inputs] and bias [classes].
  /// - Throws: `invalidArgument` when there is no such layer.
  @discardableResult
  public mutating func replaceHead(_ name: String? = nil, classes: [String], seed: UInt64) throws
    -> [String]
  {
    guard classes.count >= 2 else {
      throw GraftError(
        .invalidArgument, "\(classes.count) classes cannot be told apart",
        fix: "Give at least two classes")
    }
    var model = try dequantized()
    guard let output = model.graph.outputs.first else {
      throw GraftError(.damaged, "the model has no output")
    }
    model = try model.withFullyConnectedHead(before: output.name)
    let head = try HeadLayer(in: model.graph, named: name, before: output.name)
    var generator = SeededGenerator(seed: seed)
    let bound = 1 / Double(head.inputCount).squareRoot()
    func uniform(_ count: Int) -> [Float] {
      (0..<count).map { _ in Float((generator.uniform() * 2 - 1) * bound) }
    }
    let weight = try Tensor(
      uniform(classes.count * head.inputCount), shape: [classes.count, head.inputCount])
    let bias = try Tensor(uniform(classes.count))
    model.graph.replace(
      head, weight: weight, bias: bias, output: output, classCount: classes.count)
    model.labels = classes
    self = model
    return [head.weightName, head.biasName]
  }
}

/// A fully connected layer: a Gemm, or a product with a constant matrix and the sum with a bias.
struct HeadLayer {
  /// Its nodes' indices.
  let nodes: [Int]
  /// The value it reads.
  let input: String
  /// The value it makes.
  let output: String
  let inputCount: Int
  let weightName: String
  let biasName: String

  init(in graph: Graph, named name: String?, before output: String) throws {
    let needed = Set(graph.nodes(needed: [output]).flatMap(\.outputs))
    let candidates = graph.nodes.indices.reversed().filter { index in
      graph.nodes[index].outputs.contains(where: needed.contains)
        && graph.fullyConnectedWeight(of: index) != nil
    }
    let chosen = candidates.first { index in
      guard let name else { return true }
      let weight = graph.fullyConnectedWeight(of: index)?.name ?? ""
      return graph.nodes[index].name == name || weight == name || weight.hasPrefix(name + ".")
    }
    guard let chosen, let weight = graph.fullyConnectedWeight(of: chosen) else {
      let names = candidates.map { graph.nodes[$0].name }.filter { !$0.isEmpty }
      throw GraftError(
        .invalidArgument,
        name.map { "there is no fully connected layer '\($0)'" }
          ?? "there is no fully connected layer before the output '\(output)'",
        fix: names.isEmpty ? nil : "Choose one of: \(listing(names))")
    }
    let node = graph.nodes[chosen]
    input = node.inputs[0]
    inputCount = weight.inputCount
    weightName = weight.name
    if node.op == "Gemm" {
      nodes = [chosen]
      biasName =
        node.inputs.count > 2 && !node.inputs[2].isEmpty ? node.inputs[2] : weight.name + ".bias"
      self.output = node.outputs[0]
    } else if let sum = graph.biasSum(of: node.outputs[0]) {
      nodes = [chosen, sum.node]
      biasName = sum.bias
      self.output = graph.nodes[sum.node].outputs[0]
    } else {
      nodes = [chosen]
      biasName = weight.name + ".bias"
      self.output = node.outputs[0]
    }
  }
}

extension Graph {
  /// The weight of a node that multiplies its first input with a constant matrix.
  fileprivate func fullyConnectedWeight(of index: Int) -> (name: String, inputCount: Int)? {
    let node = nodes[index]
    guard node.domain.isEmpty, node.op == "Gemm" || node.op == "MatMul", node.inputs.count >= 2,
      let weight = initializers[node.inputs[1]], weight.shape.rank == 2,
      initializers[node.inputs[0]] == nil
    else { return nil }
    var isTransposed = false
    if case .int(1)? = node.attributes["transB"] { isTransposed = true }
    return (node.inputs[1], isTransposed ? weight.shape[1] : weight.shape[0])
  }

  /// The Add of a constant vector that alone reads `value`.
  fileprivate func biasSum(of value: String) -> (node: Int, bias: String)? {
    let readers = nodes.indices.filter { nodes[$0].reads.contains(value) }
    guard readers.count == 1, let index = readers.first, nodes[index].op == "Add",
      let bias = nodes[index].inputs.first(where: { $0 != value }),
      initializers[bias]?.shape.rank == 1
    else { return nil }
    return (index, bias)
  }

  fileprivate mutating func replace(
    _ head: HeadLayer, weight: Tensor, bias: Tensor, output: Feature, classCount: Int
  ) {
    var attributes: [String: Attribute] = ["transB": .int(1)]
    attributes["alpha"] = .float(1)
    let name = nodes[head.nodes[0]].name
    // Nodes after the head go, so that its logits can take the output's name.
    let kept = nodes(needed: [head.input])
    nodes =
      kept + [
        Node(
          "Gemm", name: name, inputs: [head.input, head.weightName, head.biasName],
          outputs: [output.name], attributes: attributes)
      ]
    initializers[head.weightName] = weight
    initializers[head.biasName] = bias
    let type = FeatureType.tensor(.float32, shape: [batchDimension, .fixed(classCount)])
    self = pruned(to: [Feature(name: output.name, type: type)])
  }

  /// The first dimension of the first input.
  private var batchDimension: FeatureDimension {
    guard case .tensor(_, let shape?)? = requiredInputs.first?.type else { return .unknown }
    return shape.first ?? .unknown
  }
}
