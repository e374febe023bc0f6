import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftLearning
import GraftOperators
import GraftTensor

/// A model of forward part and loss, taken apart.
struct ArtifactParts {
  /// The forward part with its parameters.
  let model: Model
  /// The value that the loss compares with the targets.
  let output: String
  let loss: Loss

  /// - Parameters:
  ///   - target: the input for the targets; found when nil.
  ///   - output: found when nil.
  /// - Throws: `badData` when the parameters do not fit the model, `invalidArgument` when targets or
  ///   output are not clear.
  init(
    _ artifact: ArtifactModel, _ state: CheckpointState, target: String?, output: String?
  ) throws {
    let whole = try artifact.model.graph.holding(state)
    let parameters = Set(state.parameters.map(\.key))
    let targets = try whole.targets(named: target, besides: parameters)
    let cut = try whole.cut(
      before: artifact.loss, targets: targets, parameters: parameters, named: output)
    var model = artifact.model
    model.graph = whole.pruned(to: cut.map { whole.feature($0) })
    self.model = model
    self.output = cut[0]
    loss = ArtifactLoss(whole, value: artifact.loss, cut: cut, targets: targets).loss
  }
}

extension Graph {
  /// The graph with the checkpoint's parameters in the place of inputs.
  ///
  /// - Throws: `badData` when a parameter that trains is not an input, or has another type or shape.
  fileprivate func holding(_ state: CheckpointState) throws -> Graph {
    var graph = self
    for input in inputs {
      guard let value = state.parameters[input.name] else { continue }
      do {
        try input.check(value)
      } catch let error as GraftError {
        throw GraftError(
          .badData, "parameter '\(input.name)': \(error.what)",
          fix: "Choose a checkpoint of these models")
      }
      graph.initializers[input.name] = value
    }
    graph.inputs = inputs.filter { graph.initializers[$0.name] == nil }
    if let unknown = state.trainable.first(where: { graph.initializers[$0] == nil }) {
      throw GraftError(
        .badData, "the model has no parameter '\(unknown)', which trains in the checkpoint",
        fix: didYouMean(unknown, among: inputs.map(\.name))
          ?? "Choose a checkpoint of these models")
    }
    return graph
  }

  /// The inputs that reach the loss without meeting a parameter, the one for the session's targets
  /// first.
  fileprivate func targets(named name: String?, besides parameters: Set<String>) throws -> [String]
  {
    let inputs = requiredInputs.map(\.name)
    let found = inputs.filter { input in
      !nodes(dependingOn: [input]).contains { $0.reads.contains(where: parameters.contains) }
    }
    if let name {
      guard inputs.contains(name) else {
        throw GraftError(
          .invalidArgument, "the model has no input '\(name)'",
          fix: didYouMean(name, among: inputs)
            ?? "Choose one of: \(inputs.joined(separator: ", "))")
      }
      return [name] + found.filter { $0 != name }
    }
    guard found.count == 1 else {
      throw GraftError(
        .invalidArgument,
        found.isEmpty
          ? "no input reaches the loss without meeting a parameter: the targets are not clear"
          : "several inputs may be the targets: \(found.joined(separator: ", "))",
        fix: "Name the targets' input with 'target'")
    }
    return found
  }

  /// The values at which the loss is cut off the forward part, the session's output first.
  fileprivate func cut(
    before loss: String, targets: [String], parameters: Set<String>, named name: String?
  ) throws -> [String] {
    let later = Set(nodes(dependingOn: targets).flatMap(\.outputs))
    let forward = nodes.flatMap(\.outputs).filter { !$0.isEmpty && !later.contains($0) }
    if let name {
      guard forward.contains(name) else {
        throw GraftError(
          .invalidArgument, "the forward part makes no value '\(name)'",
          fix: didYouMean(name, among: forward) ?? "List the values with 'graft inspect'")
      }
      return [name] + edges(to: loss, from: forward, given: name)
    }
    // The last value that hides all parameters and inputs from the loss; rather the model's own than
    // one that the loss's maker has added.
    let foreign = parameters.union(requiredInputs.map(\.name)).subtracting(targets)
    let hiding = forward.reversed().lazy.filter { value in
      !self.nodes(needed: [loss], given: [value]).contains {
        $0.reads.contains(where: foreign.contains)
      }
    }
    if let value = hiding.first(where: { !$0.isNameOfLossBlock }) ?? hiding.first { return [value] }
    throw GraftError(
      .invalidArgument,
      "the loss compares several values of the model: "
        + edges(to: loss, from: forward, given: "").joined(separator: ", "),
      fix: "Name the one to look at with 'output'")
  }

  /// The values of the forward part that the loss reads beside `given`.
  private func edges(to loss: String, from forward: [String], given: String) -> [String] {
    let made = Set(forward)
    let nodes = nodes(needed: [loss], given: made)
    var edges: [String] = []
    for value in nodes.flatMap(\.reads) where made.contains(value) && value != given {
      let hidden =
        given.isEmpty || !self.nodes(needed: [value]).contains { $0.reads.contains(given) }
      if hidden && !edges.contains(value) { edges.append(value) }
    }
    return edges
  }

  /// The nodes that depend on any of the values.
  fileprivate func nodes(dependingOn values: [String]) -> [Node] {
    var reached = Set(values)
    return nodes.filter { node in
      guard node.reads.contains(where: reached.contains) else { return false }
      reached.formUnion(node.outputs)
      return true
    }
  }

  /// A value as an output, with its declared type or what can be found out.
  fileprivate func feature(_ value: String) -> Feature {
    if let type = innerTypes[value] { return Feature(name: value, type: type) }
    return Feature(name: value, type: probedType(of: value) ?? .unknown)
  }

  /// The type of a value, found by looking at two sizes of every open dimension.
  private func probedType(of value: String) -> FeatureType? {
    let graph = pruned(to: [Feature(name: value, type: .unknown)])
    func probe(_ size: Int) -> TensorType? {
      var types: [String: TensorType] = [:]
      for input in graph.requiredInputs {
        guard case .tensor(let type, let shape?) = input.type else { return nil }
        types[input.name] = TensorType(
          type, Shape(shape.map { if case .fixed(let fixed) = $0 { fixed } else { size } }))
      }
      return try? graph.inferTypes(types, registry: .standard)[value]
    }
    guard let first = probe(2), let second = probe(3), first.shape.rank == second.shape.rank else {
      return nil
    }
    var batch = FeatureDimension.unknown
    if case .tensor(_, let shape?)? = graph.requiredInputs.first?.type, let first = shape.first {
      batch = first
    }
    let shape = zip(first.shape, second.shape).enumerated().map { axis, sizes in
      sizes.0 == sizes.1 ? FeatureDimension.fixed(sizes.0) : axis == 0 ? batch : .unknown
    }
    return .tensor(first.elementType, shape: shape)
  }
}

extension String {
  /// Whether onnxblock, which adds losses to models, gives such names: `onnx::sub_output::7`.
  fileprivate var isNameOfLossBlock: Bool {
    guard hasPrefix("onnx::"), let separator = lastIndex(of: ":") else { return false }
    let number = self[index(after: separator)...]
    return self[..<separator].hasSuffix(":") && !number.isEmpty && number.allSatisfy(\.isNumber)
      && self[..<separator].dropFirst(6).contains { $0 != ":" }
  }
}
