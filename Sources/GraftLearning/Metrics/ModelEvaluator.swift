import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// Runs a model forward over examples and compares its output with their targets; nothing is prepared
/// for training.
package struct ModelEvaluator {
  package let output: String
  private let loss: Loss
  private let lossName: String
  private let target: String
  private let graph: Graph
  private let plan: Plan
  /// Without the loss, to say what does not fit.
  private let forward: Plan
  private let threads: Int

  /// - Parameters:
  ///   - output: the output that the loss looks at; the model's first when nil.
  ///   - example: a set like those that will be evaluated.
  ///   - givesProbabilities: whether the output is probabilities of classes, and no logits: the loss is
  ///     then taken of their logarithms.
  /// - Throws: `invalidArgument` when the output does not exist, `unsupported`, and `typeMismatch` or
  ///   `badData` when the loss cannot take such examples.
  package init(
    _ model: Model, output: String? = nil, loss: Loss, like example: ExampleSet,
    givesProbabilities: Bool = false, threads: Int? = nil
  ) throws {
    let output = try model.graph.outputName(output)
    let graph = model.graph
    let (scored, scores) =
      givesProbabilities ? try graph.takingLogarithms(of: output) : (graph, output)
    let attached = try locating(example.name) {
      try AttachedLoss(loss, to: scored, scores, example.targets.elementType, example.inputTypes)
    }
    target = attached.target
    self.graph = graph
    lossName = attached.loss
    plan = try Plan(
      attached.graph, outputs: [lossName, output], registry: .standard, options: .standard)
    forward = try Plan(graph, outputs: [output], registry: .standard, options: .standard)
    self.output = output
    self.loss = loss
    self.threads = threads ?? availableThreads
  }

  /// - Parameter each: is given every batch's examples, by the number of their set and their rows, with
  ///   the model's output [rows, ...].
  /// - Throws: `badData` or `shapeMismatch` when examples do not fit the model, and what `each` throws.
  package func evaluate(
    _ data: [ExampleSet], batchSize: Int = 32,
    each: (_ set: Int, _ rows: [Int], _ output: Tensor) throws -> Void = { _, _, _ in }
  ) throws -> Evaluation {
    var sums = EvaluationSums(loss.targetKind)
    let order = BatchOrder(
      exampleCounts: data.map(\.count), batchSize: batchSize, shuffleSeed: nil)
    var check = TargetCheck(loss, graph, output: output)
    for set in data { try check.check(set) }
    for batch in order.batches(epoch: nil) {
      let set = data[batch.set]
      let targets = try set.targets.gathering(rows: batch.rows)
      let results = try locating(set.name) { try run(set, batch.rows, targets) }
      guard let loss = results[lossName]?.firstNumber, let output = results[output] else {
        throw GraftError(.internalFault, "the evaluation graph gave no loss")
      }
      try locating(set.name) { try sums.add(loss: loss, output: output, targets: targets) }
      try each(batch.set, batch.rows, output)
    }
    return sums.evaluation
  }

  private func run(_ set: ExampleSet, _ rows: [Int], _ targets: Tensor) throws -> [String: Tensor] {
    var feeds = try set.load(rows: rows).filter { plan.accepts($0.key) }
    feeds[target] = targets
    do {
      return try plan.run(feeds, threads: threads)
    } catch let error as GraftError {
      let inputs = feeds.filter { forward.accepts($0.key) }
      guard let shape = try? forward.run(inputs, threads: threads)[output]?.shape,
        let misfit = loss.misfit(shape, targets.shape)
      else { throw error }
      throw misfit.at("output '\(output)'")
    }
  }
}

extension Graph {
  /// The graph with the logarithms of a value, which are never below that of a tiny number.
  fileprivate func takingLogarithms(of value: String) throws -> (graph: Graph, name: String) {
    var builder = GraphBuilder(self, scope: "graft/evaluation")
    let least = builder.add("CastLike", [try builder.float(1e-12), value])
    let name = builder.add("Log", [builder.add("Max", [value, least])])
    return (builder.graph, name)
  }
}
