import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// How a loss or an output changes with a model's inputs.
public struct InputGradients: Sendable {
  /// The loss, or the weighted sum of the output.
  public let value: Double
  /// By input name, of the input's type and shape; inputs of other than floating-point type have
  /// none.
  public let gradients: [String: Tensor]
}

extension TrainingSession {
  /// The gradients of the loss with respect to the inputs, with the weights as they are now. The model
  /// works as in evaluation: with running statistics and without dropout. Nothing changes.
  ///
  /// - Parameters:
  ///   - inputs: by name, each [batch, ...].
  ///   - targets: [batch, ...].
  /// - Throws: errors of the model and the loss; `unsupported` when a node on the way has no
  ///   gradient.
  public func inputGradients(_ inputs: [String: Tensor], targets: Tensor) throws -> InputGradients {
    let set = try ExampleSet(inputs: inputs, targets: targets)
    try check(set)
    try check(targetsOf: [set])
    let attached = try AttachedLoss(
      loss, to: model.graph, output, targets.elementType, set.inputTypes)
    var feeds = inputs
    feeds[attached.target] = targets
    return try explainingShapes(of: set) {
      try attached.graph.inputGradients(of: attached.loss, feeds, inputs.keys, threads)
    }
  }
}

extension Model {
  /// The gradients of the sum of weights * output with respect to the inputs.
  ///
  /// - Parameters:
  ///   - output: an output or inner value; the first output when nil.
  ///   - inputs: by name.
  ///   - weights: of the output's type and shape; all 1 when nil.
  /// - Throws: `invalidArgument` when the output does not exist; errors of the model; `unsupported`
  ///   when a node on the way has no gradient.
  public func inputGradients(
    of output: String? = nil, _ inputs: [String: Tensor], weights: Tensor? = nil,
    threads: Int? = nil
  ) throws -> InputGradients {
    let output = output ?? outputs.first?.name ?? ""
    guard graph.valueNames.contains(output) else {
      throw GraftError(
        .invalidArgument, "the model has no value '\(output)'",
        fix: didYouMean(output, among: graph.valueNames) ?? "Choose an output of the model")
    }
    var builder = GraphBuilder(graph, scope: "graft/gradient")
    var feeds = inputs
    var value = output
    if let weights {
      let name = NameSource(avoiding: graph.valueNames).fresh("graft/weights")
      feeds[name] = weights
      value = builder.add(
        "Mul", [value, builder.input(Feature(name: name, type: .unknown))])
    }
    value = builder.add("ReduceSum", [value], ["keepdims": .int(0)])
    return try builder.graph.inputGradients(
      of: value, feeds, inputs.keys, threads ?? availableThreads)
  }
}

extension Graph {
  /// The gradients of a scalar with respect to those of the inputs that have floating-point type.
  fileprivate func inputGradients(
    of scalar: String, _ feeds: [String: Tensor], _ inputs: some Sequence<String>, _ threads: Int
  ) throws -> InputGradients {
    let forward = withoutDropout.pruned(to: [Feature(name: scalar, type: .unknown)])
    let sources = inputs.filter { feeds[$0]?.elementType.isFloatingPoint == true }.sorted()
    let (graph, names) = try forward.differentiated(
      scalar, withRespectTo: sources, registry: .standard)
    let plan = try Plan(
      graph, outputs: [scalar] + names.values.sorted(), registry: .standard, options: .standard)
    let results = try plan.run(feeds.filter { plan.accepts($0.key) }, threads: threads)
    guard let value = results[scalar]?.firstNumber else {
      throw GraftError(.internalFault, "the graph gave no value to differentiate")
    }
    var gradients: [String: Tensor] = [:]
    for source in sources {
      guard let input = feeds[source] else { continue }
      // What the value does not depend on has the gradient 0.
      gradients[source] =
        try names[source].flatMap { results[$0] } ?? Tensor(zeros: input.shape, input.elementType)
    }
    return InputGradients(value: value, gradients: gradients)
  }
}
