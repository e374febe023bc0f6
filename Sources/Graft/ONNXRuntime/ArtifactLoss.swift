import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

/// The loss of an artifact: the nodes between the forward part's values and the loss.
struct ArtifactLoss {
  private let nodes: [Node]
  private let value: String
  private let cut: [String]
  /// The inputs for targets; the first is the session's.
  private let targets: [Feature]
  private let constants: OrderedTable<Tensor>

  /// - Parameters:
  ///   - graph: forward part and loss.
  ///   - value: the loss's value.
  ///   - cut: the forward part's values that the loss reads.
  init(_ graph: Graph, value: String, cut: [String], targets: [String]) {
    nodes = graph.nodes(needed: [value], given: Set(cut))
    self.value = value
    self.cut = cut
    self.targets = targets.compactMap { name in graph.inputs.first { $0.name == name } }
    let reads = Set(nodes.flatMap(\.reads))
    constants = graph.initializers.filter { name, _ in reads.contains(name) }
  }

  var loss: Loss {
    Loss(
      name: isClassification ? "cross entropy" : "the artifacts' loss",
      isClassification: isClassification,
      misfit: isClassification ? Loss.crossEntropy().misfit : elementMisfit,
      build: build)
  }

  /// Whether class numbers are compared with the output as it is.
  private var isClassification: Bool {
    guard cut.count == 1, let target = targets.first?.name else { return false }
    let losses = ["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"]
    return nodes.contains { losses.contains($0.op) && $0.inputs.dropFirst().first == target }
  }

  /// Adds the nodes under new names.
  @Sendable
  private func build(_ builder: inout GraphBuilder, _ output: String, _ target: String) throws
    -> String
  {
    var names = Dictionary(uniqueKeysWithValues: cut.map { ($0, $0) })
    for (index, feature) in targets.enumerated() {
      let input =
        index == 0
        ? target : builder.input(Feature(name: feature.name, type: .unknown))
      names[feature.name] = try builder.fit(input, to: feature)
    }
    for (name, tensor) in constants { names[name] = builder.initializer(tensor, named: name) }
    for node in nodes {
      guard node.subgraphs.isEmpty else {
        throw GraftError(
          .unsupported, "the loss has a node with a graph inside", at: [node.place],
          fix: "Make the artifacts with another loss")
      }
      let inputs = try node.inputs.map { input in
        guard !input.isEmpty else { return "" }
        guard let name = names[input] else {
          throw GraftError(
            .unsupported, "the loss reads '\(input)', which lies inside the model",
            at: [node.place], fix: "Name another value with 'output'")
        }
        return name
      }
      let outputs = builder.add(
        node.op, inputs, node.attributes, domain: node.domain,
        outputs: node.outputs.map { $0.isEmpty ? nil : $0 })
      for (old, new) in zip(node.outputs, outputs) where !old.isEmpty { names[old] = new }
    }
    guard let loss = names[value] else {
      throw GraftError(.badData, "the loss '\(value)' is made by no node")
    }
    return loss
  }
}

extension GraphBuilder {
  /// Targets in the type that their input declares and, where only the first dimension is open, in its
  /// shape.
  fileprivate mutating func fit(_ target: String, to feature: Feature) throws -> String {
    guard case .tensor(let type, let shape) = feature.type else { return target }
    let value = add("Cast", [target], ["to": .int(type.rawValue)])
    guard let shape, !shape.isEmpty else { return value }
    var sizes = [-1]
    for dimension in shape.dropFirst() {
      guard case .fixed(let size) = dimension, size > 0 else { return value }
      sizes.append(size)
    }
    return add("Reshape", [value, try ints(sizes)])
  }
}
