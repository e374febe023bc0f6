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
      inputs = set.inputTypes
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
      optimizer, parameters: self.trainable, clipNorm: options.clipNorm,
      clipValue: options.clipValue,
      groups: ParameterGroup.assignment(
        of: options.groups, trainable: self.trainable, in: model.graph))
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
  /// - Throws: `badData` when the loss is no finite number; nothing has changed then.
  func addGradients(_ batch: Batch, of data: [ExampleSet], features cache: FeatureCache) throws
    -> Double
  {
    let (graph, results) = try explainingShapes(of: data[batch.set]) {
      let graph = try self.graph(for: data[batch.set])
      let feeds = try feeds(batch, of: data, graph, cache)
      return (graph, try graph.training.run(feeds, threads: threads))
    }
    guard let loss = results[graph.loss]?.firstNumber else {
      throw GraftError(.internalFault, "the training graph gave no loss")
    }
    guard loss.isFinite else {
      throw notFinite("the loss is \(loss)", batch, of: data[batch.set])
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
    return loss
  }

  /// Whether enough batches have been added up for an update.
  var isUpdateDue: Bool { accumulatedBatches >= options.accumulation }

  var hasGradients: Bool { accumulatedBatches > 0 }

  /// The learning rate of the next update.
  var nextLearningRate: Float { learningRate * options.schedule.factor(step: updateCount + 1) }

  /// Changes the parameters by the gradients added up so far, and forgets those.
  ///
  /// - Throws: `badData` when a parameter would not be finite; all stay as they were then.
  func applyGradients() throws {
    defer {
      gradientSum = [:]
      accumulatedBatches = 0
    }
    var newValues = values
    var newState = optimizerState
    try update.apply(
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
    updateCount += 1
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
    for batch in order.batches(epoch: nil) {
      let (graph, results) = try explainingShapes(of: data[batch.set]) {
        let graph = try self.graph(for: data[batch.set])
        let feeds = try feeds(batch, of: data, graph, cache)
        return (graph, try graph.evaluation.run(feeds, threads: threads))
      }
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
    FeatureCache(
      memoryBudget: options.featureMemory, diskBudget: options.featureDisk,
      folder: options.featureFolder)
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
      guard let given = set.inputTypes[feature.name] else {
        throw GraftError(
          .badData, "there is no tensor for the input '\(feature.name)'", at: [set.name],
          fix:
            "Give one of each: \(source.graph.requiredInputs.map(\.name).joined(separator: ", "))"
        )
      }
      try locating(set.name) {
        let tensor = try Tensor(
          shapeOnly: Shape([set.count] + given.shape.dropFirst()), given.elementType)
        if case .tensor(let type, let shape?) = feature.type, case .fixed? = shape.first {
          let open = FeatureType.tensor(type, shape: [.unknown] + shape.dropFirst())
          try Feature(name: feature.name, type: open).check(tensor)
        } else {
          try feature.check(tensor)
        }
      }
    }
  }

  /// - Throws: `badData` when a target has a value that the loss cannot take.
  func check(targetsOf set: ExampleSet) throws {
    guard let range = loss.targetRange else { return }
    let targets = set.targets.numbers ?? set.targets.integers?.map(Double.init) ?? []
    guard let wrong = targets.firstIndex(where: { !range.contains($0) }) else { return }
    throw GraftError(
      .badData,
      "the target of row \(wrong / (targets.count / set.count)), counted from 0, is "
        + "\(targets[wrong]); \(loss.name) takes \(range.lowerBound) to \(range.upperBound)",
      at: [set.name], fix: "Correct the targets, or choose another loss")
  }

  /// Runs `body`; if it fails and targets or weights do not fit the output, says that.
  private func explainingShapes<T>(of set: ExampleSet, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as GraftError where error.code != .cancelled {
      // A first example shows the output's shape also where the model leaves it open.
      let inputs = try set.load(row: 0)
      guard
        let plan = try? Plan(
          source.graph, outputs: [output], registry: .standard, options: .standard),
        let results = try? plan.run(
          inputs.filter { plan.accepts($0.key) }, threads: threads),
        var shape = results[output]?.shape
      else { throw error }
      if shape.first == 1 { shape[0] = set.count }
      guard let misfit = loss.misfit(shape, set.targets.shape) else { throw error }
      throw misfit.at("output '\(output)'").at(set.name)
    }
  }

  /// Training has left the finite numbers: what, when, and on which examples.
  private func notFinite(_ what: String, _ batch: Batch, of set: ExampleSet) -> GraftError {
    for (row, variant) in zip(batch.rows, set.variants(of: batch)) {
      var tensors = (try? set.load(row: row, variant: variant)) ?? [:]
      tensors["target"] = try? set.targets.rows(row..<row + 1)
      for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) where !tensor.isFinite {
        return GraftError(
          .badData,
          "\(what) at step \(updateCount + 1): row \(row) of '\(name)', counted from 0, holds a "
            + "value that is no finite number",
          at: [set.name], fix: "Correct that example, or leave it out")
      }
    }
    let rows = batch.rows.prefix(8).map(String.init).joined(separator: ", ")
    return GraftError(
      .badData,
      "\(what) at step \(updateCount + 1), on the rows \(rows)"
        + (batch.rows.count > 8 ? " and \(batch.rows.count - 8) more" : ""),
      at: [set.name], fix: "Lower the learning rate, or check these examples")
  }

  /// The head's inputs for a batch: features, model inputs, targets and changed parameters.
  private func feeds(
    _ batch: Batch, of data: [ExampleSet], _ graph: TrainingGraph, _ cache: FeatureCache
  ) throws -> [String: Tensor] {
    let set = data[batch.set]
    var feeds = values
    feeds[graph.target] = try set.targets.gathering(rows: batch.rows)
    let variants = set.variants(of: batch)
    if !graph.headInputs.isEmpty {
      let inputs = try set.load(rows: batch.rows, variants: variants)
      for name in graph.headInputs { feeds[name] = inputs[name] }
    }
    guard let trunk = graph.trunk else { return feeds }
    let features = try zip(batch.rows, variants).map { row, variant in
      // One example at a time, so that its features never depend on its neighbours.
      guard set.keepsFeatures else {
        return try trunk.plan.run(try set.load(row: row, variant: variant), threads: threads)
      }
      let name = "\(batch.set)-\(row)-\(variant ?? 0)"
      return try cache.features(of: name, trunk: trunk.fingerprint) {
        try set.load(row: row, variant: variant)
      } make: {
        try trunk.plan.run($0, threads: threads)
      }
    }
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
