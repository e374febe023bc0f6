import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = (x - mean) / sqrt(var + epsilon) * scale + bias, channel by channel.
///
/// Inputs: X [N, C, ...] or [N], which counts as one channel; scale, bias, mean, var, each [C], of
/// the type of X. Attributes: `epsilon` 1e-5, `momentum` 0.9, `training_mode` 0.
///
/// With `training_mode` 1 the mean and variance of the batch are used instead of the inputs, and
/// there are three outputs: Y, and the running statistics momentum * old + (1 - momentum) * batch.
/// The variance is biased (divided by the number of elements). Moments are formed in double
/// precision; those of an empty batch are NaN.
///
/// Gradients: X, scale and bias, in both modes; mean and var get none.
/// Source: ONNX BatchNormalization-15.
struct BatchNormalization: FloatingOperator {
  let name = "BatchNormalization"
  let inputCount = 5...5
  let outputCount = 1...3

  /// The number of channels of an input, and how its elements belong to them.
  struct Channels {
    let count: Int
    let geometry: ReductionGeometry

    init(_ shape: Shape) {
      count = shape.rank > 1 ? shape[1] : 1
      geometry = ReductionGeometry(shape, reduced: shape.indices.map { $0 != 1 })
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2, 3, 4)
    try context.requireRank(0, 1...Int.max)
    let x = try context.input(0)
    let channels: Shape = [Channels(x.shape).count]
    for index in 1...4 {
      try context.requireShape(index, channels)
    }
    _ = try context.node.float("epsilon", default: 1e-5)
    _ = try context.node.float("momentum", default: 0.9)
    let statistics = TensorType(x.elementType, channels)
    return try isTraining(context.node) ? [x, statistics, statistics] : [x]
  }

  private func isTraining(_ node: Node) throws -> Bool {
    try node.int("training_mode", default: 0) != 0
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let channels = try context.kept { Channels(try context.input(0).shape) }
    let x = try context.input(0, as: type)
    let mean = try context.input(3, as: type)
    let variance = try context.input(4, as: type)
    let epsilon = try context.node.float("epsilon", default: 1e-5)
    guard try isTraining(context.node) else {
      try Standardization<T>.of(mean, variance, channels.count, epsilon: epsilon, context) {
        try apply($0, x, channels, context)
      }
      return
    }
    try Standardization<T>.ofElements(x, channels.geometry, epsilon: epsilon, context) {
      standardization, batchMean, batchVariance in
      try apply(standardization, x, channels, context)
      try update(1, mean, batchMean, channels, context)
      try update(2, variance, batchVariance, channels, context)
    }
  }

  private func apply<T: FloatingElement>(
    _ standardization: Standardization<T>, _ x: UnsafePointer<T>, _ channels: Channels,
    _ context: KernelContext
  ) throws {
    let scale = try context.input(1, as: T.self)
    let bias = try context.input(2, as: T.self)
    let y = try context.output(0, as: T.self)
    let (center, factor) = (standardization.center, standardization.factor)
    let shift = standardization.remainder
    for channel in 0..<channels.count {
      factor[channel] *= scale[channel]
      shift[channel] = bias[channel] - shift[channel] * factor[channel]
    }
    channels.geometry.forEachStretch(context, cost: 2) { stretch in
      stretch.forEachElement {
        (center: center[$0], factor: factor[$0], shift: shift[$0])
      } apply: { i, channel in
        y[i] = (x[i] - channel.center) * channel.factor + channel.shift
      }
    }
  }

  /// Fills a running statistic.
  private func update<T: FloatingElement>(
    _ index: Int, _ old: UnsafePointer<T>, _ batch: UnsafePointer<Double>, _ channels: Channels,
    _ context: KernelContext
  ) throws {
    guard context.wantsOutput(index) else { return }
    let momentum = Double(try context.node.float("momentum", default: 0.9))
    let updated = try context.output(index, as: T.self)
    for channel in 0..<channels.count {
      updated[channel] = T(momentum * old[channel].double + (1 - momentum) * batch[channel])
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.outputGradients.dropFirst().allSatisfy({ $0 == nil }) else {
      throw GraftError(.unsupported, "no gradient passes the running statistics")
    }
    let inputs = [builder.outputGradient] + [0, 1, 3, 4].map { builder.input($0) }
    let gradients = builder.add(
      "BatchNormalizationGradient", domain: graftDomain, inputs, builder.node.attributes,
      outputs: (0..<3).map { builder.wants($0) })
    return gradients.map { $0.isEmpty ? nil : $0 } + [nil, nil]
  }

  var samples: [OperatorSample] {
    func sample(
      _ name: String, _ shape: Shape, _ attributes: [String: Attribute] = [:]
    ) -> OperatorSample {
      let channels: Shape = [shape.rank > 1 ? shape[1] : 1]
      let isTraining = attributes["training_mode"] != nil
      return OperatorSample(
        name, attributes: attributes,
        inputs: [
          .random(shape), .random(channels, seed: 1), .random(channels, seed: 2),
          .random(channels, seed: 3), .random(channels, seed: 4, scale: 0.1, offset: 1),
        ],
        outputCount: isTraining ? 3 : 1, differentiableInputs: [0, 1, 2],
        differentiableOutputs: [0])
    }
    let training: [String: Attribute] = ["training_mode": .int(1)]
    return [
      sample("picture", [2, 3, 5, 4]),
      sample("matrix", [4, 3]),
      sample("sequence", [2, 3, 7], ["epsilon": .float(0.1)]),
      sample("volume", [2, 3, 2, 3, 2]),
      sample("vector", [5]),
      sample("empty batch", [0, 3, 2, 2]),
      sample("training, picture", [3, 2, 5, 4], training),
      sample("training, matrix", [6, 3], training),
      sample(
        "training, sequence", [4, 3, 7], ["training_mode": .int(1), "momentum": .float(0.3)]),
      sample("training, vector", [7], training),
      OperatorSample(
        "misfit",
        inputs: [.random([2, 3, 4]), .random([3]), .random([3]), .random([4]), .random([3])],
        error: "input 3 has shape [4]; it must be [3]"),
      OperatorSample(
        "mixed types",
        inputs: [
          .random([2, 1]), .sample([1] as [Double]), .random([1]), .random([1]), .random([1]),
        ], error: "input 1 is float64"),
    ]
  }
}
