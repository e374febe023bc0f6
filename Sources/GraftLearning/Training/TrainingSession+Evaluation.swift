import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TrainingSession {
  /// Runs the examples forward, with running statistics and without dropout.
  public func evaluate(_ data: [ExampleSet], batchSize: Int = 32) throws -> Evaluation {
    try evaluate(data, batchSize: batchSize, features: makeCache())
  }

  func evaluate(_ data: [ExampleSet], batchSize: Int, features cache: FeatureCache) throws
    -> Evaluation
  {
    let order = BatchOrder(
      exampleCounts: data.map(\.count), batchSize: batchSize, shuffleSeed: nil)
    var sums = EvaluationSums(loss.targetKind)
    let batches = order.batches(epoch: nil)
    for (index, batch) in batches.enumerated() {
      let (graph, results) = try explainingShapes(of: data[batch.set]) {
        let graph = try self.graph(for: data[batch.set])
        let feeds = try feeds(batch, of: data, graph, cache) {
          Array(batches.dropFirst(index + 1))
        }
        return (graph, try graph.evaluation.run(feeds, threads: threads))
      }
      guard let loss = results[graph.loss]?.firstNumber, let output = results[graph.output] else {
        throw GraftError(.internalFault, "the evaluation graph gave no loss")
      }
      try sums.add(
        loss: loss, output: output,
        targets: try data[batch.set].targets.gathering(rows: batch.rows))
    }
    return sums.evaluation
  }

  func makeCache() -> FeatureCache {
    FeatureCache(
      memoryBudget: options.featureMemory, diskBudget: options.featureDisk,
      folder: options.featureFolder)
  }
}
