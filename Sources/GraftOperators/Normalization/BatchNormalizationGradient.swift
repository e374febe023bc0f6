import GraftGraph
import GraftTensor

/// The gradient of BatchNormalization.
///
/// Inputs: dY, X, scale, mean, var; the attributes of the forward node. Outputs: dX, dscale, dbias;
/// those not wanted may be left out. With z = (x - mean) / sqrt(var + epsilon), for each channel
/// of M elements: dbias = sum(dy), dscale = sum(dy * z), and
/// dx = scale / sqrt(var + epsilon) * dy, with `training_mode` 1
/// dx = scale / sqrt(var + epsilon) * (dy - dbias / M - z * dscale / M).
struct BatchNormalizationGradient: FloatingOperator {
  let name = "BatchNormalizationGradient"
  let domain = graftDomain
  let inputCount = 5...5
  let outputCount = 1...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    try context.requireSameType(1, 2, 3, 4)
    try context.requireRank(1, 1...Int.max)
    let channels: Shape = [BatchNormalization.Channels(x.shape).count]
    for index in 2...4 {
      try context.requireShape(index, channels)
    }
    _ = try context.node.float("epsilon", default: 1e-5)
    _ = try context.node.int("training_mode", default: 0)
    let parameter = TensorType(x.elementType, channels)
    return [x, parameter, parameter]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let channels = try context.kept { BatchNormalization.Channels(try context.input(1).shape) }
    let epsilon = try context.node.float("epsilon", default: 1e-5)
    if try context.node.int("training_mode", default: 0) != 0 {
      let x = try context.input(1, as: type)
      try Standardization<T>.ofElements(x, channels.geometry, epsilon: epsilon, context) {
        standardization, _, _ in
        try run(standardization, channels, isTraining: true, context)
      }
    } else {
      let mean = try context.input(3, as: type)
      let variance = try context.input(4, as: type)
      try Standardization<T>.of(mean, variance, channels.count, epsilon: epsilon, context) {
        try run($0, channels, isTraining: false, context)
      }
    }
  }

  private func run<T: FloatingElement>(
    _ standardization: Standardization<T>, _ channels: BatchNormalization.Channels,
    isTraining: Bool, _ context: KernelContext
  ) throws {
    let dy = try context.input(0, as: T.self)
    let x = try context.input(1, as: T.self)
    let (center, factor) = (standardization.center, standardization.factor)
    let remainder = standardization.remainder
    let wantsParameters = context.wantsOutput(1) || context.wantsOutput(2)
    try context.withScratch(2 * channels.count, of: T.self) { sums in
      let products = sums + channels.count
      if isTraining || wantsParameters {
        let sum = SumReducer(x: dy)
        let product = CenteredProductReducer(a: dy, x: x, center: center)
        channels.geometry.forEachTile(context, of: T.self, cost: 2) { tile, scratch in
          channels.geometry.reduce(tile, sum, scratch, into: sums)
          channels.geometry.reduce(tile, product, scratch, into: products)
          for channel in tile.outputs {
            products[channel] -= remainder[channel] * sums[channel]
            products[channel] *= factor[channel]
          }
        }
      }
      if context.wantsOutput(1) {
        try context.output(1, as: T.self).update(from: products, count: channels.count)
      }
      if context.wantsOutput(2) {
        try context.output(2, as: T.self).update(from: sums, count: channels.count)
      }
      guard context.wantsOutput(0) else { return }
      try fillInputGradient(
        standardization, channels, isTraining ? (sums, products) : nil, context)
    }
  }

  /// - Parameter sums: dbias and dscale, when the moments depend on the batch.
  private func fillInputGradient<T: FloatingElement>(
    _ standardization: Standardization<T>, _ channels: BatchNormalization.Channels,
    _ sums: (bias: UnsafeMutablePointer<T>, scale: UnsafeMutablePointer<T>)?,
    _ context: KernelContext
  ) throws {
    let dy = try context.input(0, as: T.self)
    let x = try context.input(1, as: T.self)
    let scale = try context.input(2, as: T.self)
    let dx = try context.output(0, as: T.self)
    let (center, factor) = (standardization.center, standardization.factor)
    guard let sums else {
      for channel in 0..<channels.count { factor[channel] *= scale[channel] }
      channels.geometry.forEachStretch(context) { stretch in
        stretch.forEachElement {
          factor[$0]
        } apply: { i, factor in
          dx[i] = dy[i] * factor
        }
      }
      return
    }
    let share = 1 / T(channels.geometry.reducedCount)
    let (constant, slope) = sums
    for channel in 0..<channels.count {
      slope[channel] *= share * factor[channel]
      constant[channel] *= share
      constant[channel] -= standardization.remainder[channel] * slope[channel]
      factor[channel] *= scale[channel]
    }
    channels.geometry.forEachStretch(context, cost: 4) { stretch in
      stretch.forEachElement {
        (center: center[$0], factor: factor[$0], constant: constant[$0], slope: slope[$0])
      } apply: { i, channel in
        let centered = x[i] - channel.center
        dx[i] = channel.factor * (dy[i] - channel.constant - centered * channel.slope)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "all outputs",
        inputs: [
          .random([2, 3]), .random([2, 3], seed: 1), .random([3]), .random([3], seed: 1),
          .random([3], scale: 0.1, offset: 1),
        ], outputCount: 3),
      OperatorSample(
        "misfit",
        inputs: [.random([2, 3]), .random([3, 2]), .random([2]), .random([2]), .random([2])],
        error: "the gradient has shape [2, 3]"),
    ]
  }
}
