import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

extension Model {
  /// Adds classes to the last fully connected layer; what it knows of the others stays.
  ///
  /// The weights of the old classes keep their bytes. A new class starts as the mean of the old ones,
  /// with noise of a thousandth of their size. A mean is never above the largest: predictions stay what
  /// they were until something is learned, but for ties within the noise. With features of a new class its
  /// start is moved so that its logit is the largest at their mean and falls towards the mean of the old
  /// classes' features. Functions behind the layer that work on any number of classes, such as a
  /// softmax, stay; the new classes are appended to the model's labels.
  ///
  /// - Parameters:
  ///   - name: the layer's node, or what its weight's name begins with; the last fully connected layer
  ///     before the first output when nil.
  ///   - classes: the new labels, at least one, none of them in the model yet.
  ///   - features: by label [examples, inputs] of what goes into the layer; old classes' features say
  ///     what the new ones have to be told from. May be empty.
  ///   - seed: of the noise.
  /// - Returns: the names of the weight and the bias.
  /// - Throws: `invalidArgument` when there is no such layer or a class is there already,
  ///   `unsupported` when what follows the layer is bound to the number of classes, `shapeMismatch`.
  @discardableResult
  public mutating func widenHead(
    _ name: String? = nil, classes: [String], features: [String: Tensor] = [:], seed: UInt64
  ) throws -> [String] {
    guard let output = graph.outputs.first else {
      throw GraftError(.damaged, "the model has no output")
    }
    let head = try HeadLayer(in: graph, named: name, before: output.name)
    let layer = try WidenedLayer(head, in: graph)
    try check(newClasses: classes, besides: layer.classCount)
    try graph.requireOpenClassCount(behind: head, output: output.name)
    let means = try features.mapValues { try layer.mean(of: $0) }
    let rows = layer.newRows(
      classes, means: means, old: labels ?? [], generator: SeededGenerator(seed: seed))
    let widened = self
    self = try widened.replacing(layer, adding: rows, output: output)
    if let labels { self.labels = labels + classes }
    return [head.weightName, head.biasName]
  }

  private func check(newClasses: [String], besides count: Int) throws {
    guard !newClasses.isEmpty else {
      throw GraftError(
        .invalidArgument, "there is no class to add", fix: "Give at least one new class")
    }
    var known = Set(labels ?? [])
    for label in newClasses where !known.insert(label).inserted {
      throw GraftError(
        .invalidArgument, "the class '\(label)' is there already", fix: "Give it another name")
    }
    guard let labels, labels.count != count else { return }
    throw GraftError(
      .invalidArgument, "the model has \(labels.count) labels and its layer \(count) outputs",
      fix: "Set the model's labels first, or choose the layer that makes the classes")
  }

  private func replacing(
    _ layer: WidenedLayer, adding rows: [(weight: [Float], bias: Float)], output: Feature
  ) throws -> Model {
    var model = self
    let weight = try layer.weight(adding: rows.map(\.weight))
    let bias = try Tensor(layer.bias + rows.map(\.bias))
    model.graph.initializers[layer.head.weightName] = weight
    model.graph.initializers[layer.head.biasName] = bias
    if let node = layer.nodeWithoutBias {
      model.graph.addBias(layer.head.biasName, to: node, weight: layer.head.weightName)
    }
    let made = Set(graph.values(behind: layer.head.output) + [layer.head.output])
    model.graph.innerTypes = graph.innerTypes.filter { name, _ in !made.contains(name) }
    let count = layer.classCount + rows.count
    model.graph.outputs = graph.outputs.map { feature in
      guard made.contains(feature.name), case .tensor(let type, let shape?) = feature.type,
        shape.count == 2
      else { return feature }
      return Feature(
        name: feature.name, type: .tensor(type, shape: [shape[0], .fixed(count)]),
        documentation: feature.documentation)
    }
    return model
  }
}

extension Graph {
  /// The names of all values that depend on `value`.
  fileprivate func values(behind value: String) -> [String] {
    var reached: Set<String> = [value]
    var found: [String] = []
    for node in nodes where node.reads.contains(where: reached.contains) {
      let outputs = node.outputs.filter { !$0.isEmpty }
      reached.formUnion(outputs)
      found += outputs
    }
    return found
  }

  /// Functions of each number alone, or of each line of numbers.
  private static let openFunctions: Set<String> = [
    "Softmax", "LogSoftmax", "Sigmoid", "Identity", "Cast", "Clip", "Tanh", "Exp", "Log", "Relu",
    "ArgMax", "TopK", "Dropout", "Flatten", "ReduceMax",
  ]

  fileprivate func requireOpenClassCount(behind head: HeadLayer, output: String) throws {
    var reached: Set<String> = [head.output]
    for node in nodes where node.reads.contains(where: reached.contains) {
      guard node.domain.isEmpty, Self.openFunctions.contains(node.op) else {
        throw GraftError(
          .unsupported, "\(node.place) follows the layer and may be bound to the number of classes",
          fix: "Use replaceHead, which removes what follows the layer")
      }
      reached.formUnion(node.outputs)
    }
  }

  /// Gives the layer whose node has no bias one.
  fileprivate mutating func addBias(_ bias: String, to index: Int, weight: String) {
    var node = nodes[index]
    if node.op == "Gemm" {
      node.inputs = Array(node.inputs.prefix(2)) + [bias]
      nodes[index] = node
      return
    }
    let output = node.outputs[0]
    let product = NameSource(avoiding: valueNames).fresh("\(weight)/product")
    node.outputs[0] = product
    nodes[index] = node
    nodes.insert(
      Node("Add", name: "\(weight)/bias", inputs: [product, bias], outputs: [output]), at: index + 1
    )
  }
}
