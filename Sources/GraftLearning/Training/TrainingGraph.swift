import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// Whether batch normalization uses the statistics of the batch while training.
public enum BatchNormalizationMode: String, Sendable, CaseIterable {
  /// Where its scale or bias trains; elsewhere the running statistics.
  case auto
  /// Everywhere, as ONNX Runtime does.
  case train
  /// Nowhere: always the running statistics, which then never change.
  case frozen
}

extension BatchNormalizationMode {
  /// Whether a batch normalization, which has five inputs, uses its batch while training.
  func usesBatch(in node: Node, trainable: [String]) -> Bool {
    switch self {
    case .auto: node.inputs.dropFirst().prefix(2).contains(where: trainable.contains)
    case .train: true
    case .frozen: false
    }
  }
}

/// Whether a model's Dropout nodes work while training. Evaluation never drops anything.
public enum DropoutMode: String, Sendable, CaseIterable {
  /// With the ratios in the model. Features are then taken below the first Dropout.
  case model
  /// Not at all.
  case off
}

/// A model made ready to train: features from the frozen part, loss and gradients from the rest.
struct TrainingGraph {
  let trainable: [String]
  /// Gives the features of one batch; nil when nothing is frozen below the trainable part.
  let trunk: (plan: Plan, fingerprint: TrunkFingerprint)?
  /// Gives loss, gradients and updates of running statistics.
  let training: Plan
  /// Gives loss and output with running statistics.
  let evaluation: Plan
  let features: [String]
  /// The model's inputs that training reads beside the features.
  let headInputs: [String]
  let output: String
  let loss: String
  let target: String
  /// The input, one int64, that tells the draws of dropout apart.
  let draw: String
  /// The gradient's value name for every trainable parameter that influences the loss.
  let gradients: [String: String]
  let statistics: [Graph.RunningStatistic]

  /// - Parameters:
  ///   - example: the types of the model's inputs for a batch of one.
  ///   - targetType: the targets' type for a batch of one.
  init(
    _ source: Graph, output: String, trainable: [String], loss: Loss,
    options: TrainingOptions, example: [String: TensorType], targetType: ElementType
  ) throws {
    let registry = OperatorRegistry.standard
    let attached = try AttachedLoss(loss, to: source, output, targetType, example)
    let (target, lossName) = (attached.target, attached.loss)
    let whole = attached.graph.pruned(
      to: source.outputs(named: output) + [Feature(name: lossName, type: .unknown)])
    let forward = whole.withoutDropout
    let draw = NameSource(avoiding: whole.valueNames).fresh("graft/draw")
    let dropping =
      options.dropout == .off
      ? forward : whole.usingDropout(seed: options.dropoutSeed, draw: draw)
    let (trainingForward, statistics) = dropping.usingBatchStatistics { node in
      options.batchNormalization.usesBatch(in: node, trainable: trainable)
    }
    let (backward, gradients) = try trainingForward.differentiated(
      lossName, withRespectTo: trainable, registry: registry)
    guard !gradients.isEmpty else {
      throw GraftError(
        .invalidArgument,
        "none of the chosen parameters influences the output '\(output)': "
          + trainable.prefix(4).joined(separator: ", "),
        fix: "Choose parameters on the way to that output, or another output")
    }
    let results = [lossName] + gradients.values.sorted() + statistics.map(\.update)
    let needed = backward.pruned(to: results.map { Feature(name: $0, type: .unknown) })
    let split = try TrunkSplit(
      needed, trainable: Set(trainable), targets: Set([target] + attached.furtherTargets),
      exampleTypes: example, registry: registry)
    training = try Plan(split.head, registry: registry, options: .standard)
    trunk = try split.trunk.map { graph in
      (
        try Plan(graph, registry: registry, options: .standard),
        TrunkFingerprint(graph, kernels: PlanOptions.standard.providers.map(\.name))
      )
    }
    let evaluationOutputs = [lossName, output].map { Feature(name: $0, type: .unknown) }
    evaluation = try Plan(
      forward.pruned(to: evaluationOutputs, given: split.features), registry: registry,
      options: .standard)
    features = split.features
    headInputs = Array(
      Set(training.inputs.map(\.name)).union(evaluation.inputs.map(\.name))
        .subtracting(split.features + [target, draw])
    ).sorted()
    self.trainable = trainable
    self.output = output
    self.loss = lossName
    self.target = target
    self.draw = draw
    self.gradients = gradients
    self.statistics = statistics
  }
}

extension Graph {
  /// The name of an output or inner value; that of the first output when nil.
  ///
  /// - Throws: `invalidArgument` when the graph has none of that name.
  func outputName(_ wanted: String?) throws -> String {
    let names = outputs.map(\.name)
    let output = wanted ?? names.first ?? ""
    guard names.contains(output) || producers[output] != nil else {
      throw GraftError(
        .invalidArgument, "the model has no output '\(output)'",
        fix: didYouMean(output, among: names) ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    return output
  }

  /// The declared output of that name, or an inner value.
  package func outputs(named name: String) -> [Feature] {
    [outputs.first { $0.name == name } ?? Feature(name: name, type: .unknown)]
  }
}
