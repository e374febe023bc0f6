import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How fully connected layers on features are trained: AdamW on cross entropy.
public struct NetworkTraining: Sendable, Codable {
  public var epochs = 100
  public var batchSize = 32
  public var learningRate: Float = 0.001
  public var weightDecay: Float = 0.01
  /// Of the first weights and of the order of examples: the same seed gives the same classifier.
  public var seed: UInt64 = 0
  public var scaling = FeatureScaling.standard

  public init() {}

  /// Trains a network with the given hidden sizes and ReLU between its layers.
  ///
  /// - Returns: the layers, for features as they are given.
  func layers(hidden: [Int], _ rows: FeatureRows, _ assignment: ClassAssignment) throws
    -> [LinearLayer]
  {
    let matrix = try rows.matrix
    let means = scaling == .standard ? matrix.columnMeans : zeros(rows.dimension)
    let deviations =
      scaling == .standard
      ? matrix.columnDeviations(around: means) : zeros(rows.dimension).map { $0 + 1 }
    let scaled = matrix.standardized(means: means, deviations: deviations)
    let set = try ExampleSet(
      name: "features",
      inputs: ["features": Tensor(scaled.values.map(Float.init), shape: rows.tensor.shape)],
      targets: Tensor(assignment.indices.map(Int64.init)))
    let start = try firstLayers([rows.dimension] + hidden + [assignment.classes.count])
    let trained = try train(start, on: set)
    guard let first = trained.first else { return [] }
    let weight = DenseMatrix(
      rows: first.outputCount, columns: first.inputCount,
      values: try first.weight.values(as: Float.self).map(Double.init))
    let bias = try first.bias.values(as: Float.self).map(Double.init)
    return [
      try LinearLayer(weight: weight, bias: bias, means: means, deviations: deviations)
    ] + trained.dropFirst()
  }

  private func zeros(_ count: Int) -> [Double] { [Double](repeating: 0, count: count) }

  /// Uniform within 1 / sqrt(inputs), as PyTorch starts its linear layers.
  private func firstLayers(_ sizes: [Int]) throws -> [LinearLayer] {
    var generator = SeededGenerator(seed: seed)
    return try zip(sizes, sizes.dropFirst()).map { inputs, outputs in
      let bound = 1 / Double(inputs).squareRoot()
      func uniform(_ count: Int) -> [Float] {
        (0..<count).map { _ in Float((generator.uniform() * 2 - 1) * bound) }
      }
      return LinearLayer(
        weight: try Tensor(uniform(outputs * inputs), shape: [outputs, inputs]),
        bias: try Tensor(uniform(outputs)))
    }
  }

  private func train(_ layers: [LinearLayer], on set: ExampleSet) throws -> [LinearLayer] {
    let model = try Model(network: layers, scores: false)
    let session = try TrainingSession(
      model, trainable: .all, loss: .crossEntropy,
      optimizer: .adamW(learningRate: learningRate, weightDecay: weightDecay))
    let run = try session.fit(
      [set], FitOptions(epochs: epochs, batchSize: batchSize, shuffleSeed: seed))
    let events = run.makeAsyncIterator()
    while try events.nextEvent() != nil {}
    let values = session.model.parameters
    return try layers.indices.map { index in
      guard let weight = values["layer\(index).weight"], let bias = values["layer\(index).bias"]
      else { throw GraftError(.internalFault, "layer \(index) was lost in training") }
      return LinearLayer(weight: weight, bias: bias)
    }
  }
}

extension Model {
  /// Layers with ReLU between them, from `features` to `logits`, or to their softmax, `scores`.
  init(network layers: [LinearLayer], scores: Bool) throws {
    let inputs = layers.first?.inputCount ?? 0
    try self.init(classifying: inputs, classes: layers.last?.outputCount ?? 0) {
      builder, features in
      var value = features
      for (index, layer) in layers.enumerated() {
        if index > 0 { value = builder.add("Relu", [value]) }
        value = layer.add(to: &builder, value, named: "layer\(index)")
      }
      return scores ? builder.add("Softmax", [value], ["axis": .int(1)], named: "scores") : value
    }
  }
}
