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
  public private(set) var updateCount = 0

  private var source: Model
  private let output: String
  private let loss: Loss
  private let options: TrainingOptions
  private let threads: Int
  private let update: OptimizerUpdate
  /// The changed values: trainable parameters and running statistics.
  private var values: [String: Tensor] = [:]
  private var optimizerState: [String: Tensor] = [:]
  private var gradientSum: [String: Tensor] = [:]
  private var accumulatedBatches = 0
  private var prepared: (signature: Signature, graph: TrainingGraph)?

  /// What a training graph is built for: the inputs' and targets' types but for the batch size.
  private struct Signature: Equatable {
    let inputs: [String: TensorType]
    let target: ElementType

    init(_ set: ExampleSet) {
      inputs = set.inputs.mapValues {
        TensorType($0.elementType, Shape([1] + $0.shape.dropFirst()))
      }
      target = set.targets.elementType
    }
  }

  /// - Parameters:
  ///   - output: the output that the loss compares with the targets; the model's first when nil.
  /// - Throws: `invalidArgument` when the selection chooses nothing, the output does not exist or a
  ///   number is out of range.
  public init(
    _ model: Model, output: String? = nil, trainable: ParameterSelection, loss: Loss,
    optimizer: Optimizer, options: TrainingOptions = TrainingOptions()
  ) throws {
    try optimizer.check()
    try options.check()
    let names = model.graph.outputs.map(\.name)
    let output = output ?? names.first ?? ""
    guard names.contains(output) || model.graph.producers[output] != nil else {
      throw GraftError(
        .invalidArgument, "the model has no output '\(output)'",
        fix: didYouMean(output, among: names) ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    self.source = model
    self.output = output
    self.loss = loss
    self.options = options
    self.threads = options.threads ?? availableThreads
    self.trainable = try trainable.parameters(of: model.graph)
    self.learningRate = optimizer.learningRate
    update = try OptimizerUpdate(
      optimizer, parameters: self.trainable, clipNorm: options.clipNorm)
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
  /// - Returns: the loss.
  func addGradients(_ batch: Batch, of data: [ExampleSet], features cache: FeatureCache) throws
    -> Double
  {
    let graph = try graph(for: data[batch.set])
    let feeds = try feeds(batch, of: data, graph, cache)
    let results = try graph.training.run(feeds, threads: threads)
    for (parameter, name) in graph.gradients {
      guard let gradient = results[name] else { continue }
      gradientSum[parameter] =
        try gradientSum[parameter].map { try $0.adding(gradient) } ?? gradient
    }
    for statistic in graph.statistics { values[statistic.parameter] = results[statistic.update] }
    accumulatedBatches += 1
    guard let loss = results[graph.loss]?.firstNumber else {
      throw GraftError(.internalFault, "the training graph gave no loss")
    }
    return loss
  }

  /// Whether enough batches have been added up for an update.
  var isUpdateDue: Bool { accumulatedBatches >= options.accumulation }

  var hasGradients: Bool { accumulatedBatches > 0 }

  /// The learning rate of the next update.
  var nextLearningRate: Float { learningRate * options.schedule.factor(step: updateCount + 1) }

  /// Changes the parameters by the gradients added up so far, and forgets those.
  func applyGradients() throws {
    try update.apply(
      to: &values, gradients: gradientSum, state: &optimizerState,
      learningRate: nextLearningRate, step: updateCount + 1, threads: threads)
    updateCount += 1
    gradientSum = [:]
    accumulatedBatches = 0
  }

  /// The gradients added up since the last update, by parameter.
  package var accumulatedGradients: [String: Tensor] { gradientSum }

  // MARK: Whole sets

  /// Runs the examples forward, with running statistics.
  public func evaluate(_ data: [ExampleSet], batchSize: Int = 32) throws -> Evaluation {
    try evaluate(data, batchSize: batchSize, features: makeCache())
  }

  func evaluate(_ data: [ExampleSet], batchSize: Int, features cache: FeatureCache) throws
    -> Evaluation
  {
    let order = BatchOrder(
      exampleCounts: data.map(\.count), batchSize: batchSize, shuffleSeed: nil)
    var lossSum = 0.0
    var rightCount = 0
    var count = 0
    for batch in order.batches(epoch: 0) {
      let graph = try graph(for: data[batch.set])
      let results = try graph.evaluation.run(
        try feeds(batch, of: data, graph, cache), threads: threads)
      guard let loss = results[graph.loss]?.firstNumber, let output = results[graph.output] else {
        throw GraftError(.internalFault, "the evaluation graph gave no loss")
      }
      lossSum += loss * Double(batch.rows.count)
      count += batch.rows.count
      if loss.isNaN { continue }
      if self.loss.isClassification {
        let targets = try data[batch.set].targets.gathering(rows: batch.rows)
        rightCount += try rightClassCount(output, targets)
      }
    }
    return Evaluation(
      loss: lossSum / Double(max(1, count)),
      accuracy: loss.isClassification ? Double(rightCount) / Double(max(1, count)) : nil,
      exampleCount: count)
  }

  func makeCache() -> FeatureCache {
    FeatureCache(memoryBudget: options.featureMemory, diskBudget: options.featureDisk)
  }

  // MARK: Parts

  private func graph(for set: ExampleSet) throws -> TrainingGraph {
    let signature = Signature(set)
    if let prepared, prepared.signature == signature { return prepared.graph }
    try check(set)
    let graph = try TrainingGraph(
      source.graph, output: output, trainable: trainable, loss: loss,
      batchNormalization: options.batchNormalization, example: signature.inputs,
      targetType: signature.target)
    prepared = (signature, graph)
    return graph
  }

  private func check(_ set: ExampleSet) throws {
    for feature in source.graph.pruned(to: source.graph.outputs(named: output)).requiredInputs {
      guard let tensor = set.inputs[feature.name] else {
        throw GraftError(
          .badData, "there is no tensor for the input '\(feature.name)'", at: [set.name],
          fix:
            "Give one of each: \(source.graph.requiredInputs.map(\.name).joined(separator: ", "))"
        )
      }
      try locating(set.name) {
        if case .tensor(let type, let shape?) = feature.type, case .fixed? = shape.first {
          let open = FeatureType.tensor(type, shape: [.unknown] + shape.dropFirst())
          try Feature(name: feature.name, type: open).check(tensor)
        } else {
          try feature.check(tensor)
        }
      }
    }
  }

  /// The head's inputs for a batch: features, model inputs, targets and changed parameters.
  private func feeds(
    _ batch: Batch, of data: [ExampleSet], _ graph: TrainingGraph, _ cache: FeatureCache
  ) throws -> [String: Tensor] {
    let set = data[batch.set]
    var feeds = values
    feeds[graph.target] = try set.targets.gathering(rows: batch.rows)
    for name in graph.headInputs {
      feeds[name] = try set.inputs[name]?.gathering(rows: batch.rows)
    }
    guard let trunk = graph.trunk else { return feeds }
    let features = try batch.rows.map { row in
      try cache.features(of: FeatureCache.Key(set: batch.set, row: row)) {
        // One example at a time, so that its features never depend on its neighbours.
        let inputs = try set.inputs.mapValues { try $0.rows(row..<row + 1) }
        return try trunk.run(inputs, threads: threads)
      }
    }
    for name in graph.features {
      feeds[name] = try Tensor.stacking(features.compactMap { $0[name] })
    }
    return feeds
  }
}

extension Tensor {
  /// The first element of a floating-point tensor.
  package var firstNumber: Double? {
    guard elementCount > 0 else { return nil }
    switch elementType {
    case .float32: return (try? pointer(as: Float.self)).map { Double($0[0]) }
    case .float64: return (try? pointer(as: Double.self)).map { $0[0] }
    default: return nil
    }
  }

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
    return try Plan(builder.graph, registry: .standard)
  }
}
