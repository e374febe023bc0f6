import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// Trains some parameters of a model.
///
/// What lies below the first trainable parameter runs once for each example: its values there, the
/// features, are kept. A session belongs to one thread or task; its events can be sent anywhere.
public final class TrainingSession {
  /// The step size, before the schedule; a change holds from the next update on.
  public var learningRate: Float
  /// The names of the parameters that train.
  public let trainable: [String]
  /// How many updates there have been.
  public internal(set) var updateCount = 0

  /// What an app wants to keep with the training: it goes into checkpoints.
  public var properties: [String: TrainingProperty] = [:]

  var source: Model
  let output: String
  let loss: Loss
  var options: TrainingOptions
  let threads: Int
  /// With the learning rate it began with.
  var optimizer: Optimizer
  var update: OptimizerUpdate
  /// What the schedule knows of the losses so far.
  var plateau: PlateauState?
  /// The changed values: trainable parameters and running statistics.
  var values: [String: Tensor] = [:]
  var optimizerState: [String: Tensor] = [:]
  var gradientSum: [String: Tensor] = [:]
  var accumulatedBatches = 0
  /// Batches run so far: tells the draws of dropout apart.
  var batchCount = 0
  /// The norm of all gradients together at the last update, before it was limited.
  public internal(set) var gradientNorm: Double?
  /// Rises when something frozen changes, so that features made before are of no use.
  private(set) var frozenRevision = 0
  /// Tells the model apart from others; made when it is first asked for.
  private var fingerprint: String?
  private var prepared: (signature: Signature, graph: TrainingGraph)?

  /// What a training graph is built for: the inputs' and targets' types but for the batch size.
  private struct Signature: Equatable {
    let inputs: [String: TensorType]
    let target: ElementType

    init(_ set: ExampleSet) {
      inputs = set.inputTypes
      target = set.targets.elementType
    }
  }

  /// - Parameters:
  ///   - model: a quantised one trains as `Model.dequantized()`.
  ///   - output: the output that the loss compares with the targets; the model's first when nil.
  /// - Throws: `invalidArgument` when the selection chooses nothing, the output does not exist or a
  ///   number is out of range.
  public init(
    _ model: Model, output: String? = nil, trainable: ParameterSelection, loss: Loss,
    optimizer: Optimizer, options: TrainingOptions = TrainingOptions()
  ) throws {
    try optimizer.check()
    try options.check()
    let model = try model.dequantized()
    let output = try model.graph.outputName(output)
    self.source = model
    self.output = output
    self.loss = loss
    self.options = options
    self.threads = options.threads ?? availableThreads
    self.trainable = try trainable.parameters(of: model.graph)
    self.learningRate = optimizer.learningRate
    self.optimizer = optimizer
    plateau = options.schedule.plateau
    update = try OptimizerUpdate(optimizer, self.trainable, options, model.graph)
    for name in self.trainable { values[name] = model.graph.initializers[name] }
  }

  /// The model with its parameters as trained so far.
  public var model: Model {
    var model = source
    for (name, value) in values { model.graph.initializers[name] = value }
    return model
  }

  /// The trained parameters, then the running statistics that changed.
  public var changedParameters: OrderedTable<Tensor> {
    let order = source.graph.initializers.keys.filter { values[$0] != nil }
    let statistics = order.filter { !trainable.contains($0) }
    return OrderedTable(
      (trainable + statistics).compactMap { name in
        values[name].map { (name, $0) }
      })
  }

  // MARK: One batch at a time

  /// Runs one batch forward and backward and adds its gradients to those before it.
  ///
  /// - Parameter later: the batches that come next.
  /// - Returns: the loss.
  /// - Throws: `badData` when the loss is no finite number; nothing has changed then.
  func addGradients(
    _ batch: Batch, of data: [ExampleSet], features cache: FeatureCache,
    later: () -> [Batch] = { [] }
  ) throws -> Double {
    let (graph, results) = try explainingShapes(of: data[batch.set]) {
      let graph = try self.graph(for: data[batch.set])
      var feeds = try feeds(batch, of: data, graph, cache, later: later)
      feeds[graph.draw] = try Tensor(scalar: Int64(batchCount))
      return (graph, try graph.training.run(feeds, threads: threads))
    }
    guard let loss = results[graph.loss]?.firstNumber else {
      throw GraftError(.internalFault, "the training graph gave no loss")
    }
    guard loss.isFinite else {
      throw notFinite(
        loss.isNaN ? "the loss is no number" : "the loss is infinite", batch, of: data[batch.set])
    }
    for statistic in graph.statistics where results[statistic.update]?.isFinite == false {
      throw notFinite("'\(statistic.parameter)' is not finite", batch, of: data[batch.set])
    }
    for (parameter, name) in graph.gradients {
      guard let gradient = results[name] else { continue }
      gradientSum[parameter] =
        try gradientSum[parameter].map { try $0.adding(gradient) } ?? gradient
    }
    for statistic in graph.statistics { values[statistic.parameter] = results[statistic.update] }
    accumulatedBatches += 1
    batchCount += 1
    return loss
  }

  /// Whether enough batches have been added up for an update.
  var isUpdateDue: Bool { accumulatedBatches >= options.accumulation }

  var hasGradients: Bool { accumulatedBatches > 0 }

  /// The learning rate of the next update.
  var nextLearningRate: Float {
    learningRate * options.schedule.factor(step: updateCount + 1) * (plateau?.factor ?? 1)
  }

  /// Changes the parameters by the gradients added up so far, and forgets those.
  ///
  /// - Throws: `badData` when a parameter would not be finite; all stay as they were then.
  func applyGradients() throws {
    defer { forgetGradients() }
    var newValues = values
    var newState = optimizerState
    let norm = try update.apply(
      to: &newValues, gradients: gradientSum, state: &newState,
      learningRate: nextLearningRate, step: updateCount + 1, threads: threads)
    if let name = trainable.first(where: { newValues[$0]?.isFinite == false }) {
      throw GraftError(
        .badData,
        "the parameter '\(name)' is no longer finite after step \(updateCount + 1) with learning "
          + "rate \(nextLearningRate)", fix: "Lower the learning rate, or limit the gradients' norm"
      )
    }
    values = newValues
    optimizerState = newState
    gradientNorm = norm
    updateCount += 1
  }

  func forgetGradients() {
    gradientSum = [:]
    accumulatedBatches = 0
  }

  /// The gradients added up since the last update, by parameter.
  package var accumulatedGradients: [String: Tensor] { gradientSum }

  /// Changes a value that does not train.
  func setFrozen(_ name: String, _ value: Tensor) {
    source.graph.initializers[name] = value
    fingerprint = nil
    prepared = nil
    frozenRevision += 1
  }

  /// The running statistics that training changes.
  var changingStatistics: Set<String> {
    let nodes = source.graph.nodes.filter {
      $0.isBatchNormalization && options.batchNormalization.usesBatch(in: $0, trainable: trainable)
    }
    return Set(nodes.flatMap { $0.inputs.dropFirst(3) })
  }

  /// Tells the model apart from others: its structure and what does not change.
  var modelFingerprint: String {
    if let fingerprint { return fingerprint }
    let statistics = changingStatistics
    var frozen = source.graph
    frozen.initializers = frozen.initializers.filter { name, _ in
      !trainable.contains(name) && !statistics.contains(name)
    }
    let text = TrunkFingerprint(frozen, kernels: [output]).name(of: [:])
    fingerprint = text
    return text
  }

  // MARK: Parts

  func graph(for set: ExampleSet) throws -> TrainingGraph {
    let signature = Signature(set)
    if let prepared, prepared.signature == signature { return prepared.graph }
    try check(set)
    let graph = try TrainingGraph(
      source.graph, output: output, trainable: trainable, loss: loss,
      options: options, example: signature.inputs, targetType: signature.target)
    prepared = (signature, graph)
    return graph
  }

  /// The head's inputs for a batch: features, model inputs, targets and changed parameters.
  func feeds(
    _ batch: Batch, of data: [ExampleSet], _ graph: TrainingGraph, _ cache: FeatureCache,
    later: () -> [Batch]
  ) throws -> [String: Tensor] {
    let set = data[batch.set]
    var feeds = values
    feeds[graph.target] = try set.targets.gathering(rows: batch.rows)
    if !graph.headInputs.isEmpty {
      let inputs = try set.load(rows: batch.rows, variants: set.variants(of: batch))
      if set.isLoaded { try locating(set.name) { try loss.check(inputs, rows: batch.rows) } }
      for name in graph.headInputs { feeds[name] = inputs[name] }
    }
    guard let trunk = graph.trunk else { return feeds }
    // One example at a time, so that its features never depend on its neighbours.
    func make(_ inputs: [[String: Tensor]]) throws -> [[String: Tensor]] {
      try trunk.plan.run(each: inputs, threads: threads)
    }
    func load(_ example: ExampleIndex) throws -> [String: Tensor] {
      try data[example.set].load(row: example.row, variant: example.variant)
    }
    let examples = data.examples(of: batch)
    let features =
      try set.keepsFeatures
      ? cache.features(
        of: examples, later: { data.examples(of: later(), like: set) },
        trunk: trunk.fingerprint, atOnce: threads, inputs: load, make: make)
      : make(examples.map(load))
    for name in graph.features {
      feeds[name] = try Tensor.stacking(features.compactMap { $0[name] })
    }
    return feeds
  }
}

extension Tensor {
  /// The sum with a tensor of the same type and shape.
  func adding(_ other: Tensor) throws -> Tensor {
    let results = try Self.addition.get().run(["a": self, "b": other], threads: 1)
    guard let sum = results["Add"] else {
      throw GraftError(.internalFault, "the sum of gradients was not computed")
    }
    return sum
  }

  private static let addition: Result<Plan, any Error> = Result {
    var builder = GraphBuilder()
    let a = builder.input(Feature(name: "a", type: .unknown))
    let b = builder.input(Feature(name: "b", type: .unknown))
    builder.output(builder.add("Add", [a, b]))
    return try Plan(builder.graph, registry: .standard, options: .standard)
  }
}

extension OptimizerUpdate {
  /// The update of a session.
  init(
    _ optimizer: Optimizer, _ trainable: [String], _ options: TrainingOptions, _ graph: Graph
  ) throws {
    try self.init(
      optimizer, parameters: trainable, clipNorm: options.clipNorm, clipValue: options.clipValue,
      groups: ParameterGroup.assignment(of: options.groups, trainable: trainable, in: graph))
  }
}
