import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The machinery of GroupNormalization and InstanceNormalization: each example's channels are
/// standardized in groups of neighbours, then scaled and shifted channel by channel.
struct GroupStandardization {
  let channels: Int
  private let groups: Int
  private let examples: Int
  /// Elements of one channel of one example.
  private let channelSize: Int
  /// Its outputs are the groups of all examples.
  private let groupGeometry: ReductionGeometry
  /// Its outputs are the channels of all examples.
  private let channelGeometry: ReductionGeometry

  /// - Parameters:
  ///   - shape: [N, C, ...].
  ///   - groups: how many groups there are; as many as channels when nil.
  /// - Throws: `invalidArgument` when the channels cannot be divided evenly.
  init(_ shape: Shape, groups: Int?) throws {
    guard shape.rank >= 2 else {
      throw GraftError(
        .shapeMismatch, "input 0 has shape \(shape); it must be [N, C, ...]")
    }
    let channels = shape[1]
    let groups = groups ?? channels
    guard groups > 0 || channels == 0, groups == 0 || channels % groups == 0 else {
      throw GraftError(
        .invalidArgument, "\(channels) channels cannot be divided into \(groups) groups",
        fix: "Choose num_groups so that it divides the number of channels")
    }
    self.channels = channels
    self.groups = channels == 0 ? 0 : groups
    examples = shape[0]
    channelSize = shape.elementCount(in: 2..<shape.rank)
    let groupSize = channels == 0 ? 0 : channels / groups &* channelSize
    groupGeometry = ReductionGeometry([examples * self.groups, groupSize], axes: [1])
    channelGeometry = ReductionGeometry([examples * channels, channelSize], axes: [1])
  }

  /// The group of a channel of an example.
  private func group(_ channel: Int) -> Int { channel / (channels / groups) }

  /// Y of X, scale and bias.
  ///
  /// Group by group where a group stays in a core's cache, so that memory is read once and written
  /// once; larger groups on all threads, one after the other.
  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let standardizer = GroupStandardizer(
      x: x, y: try context.output(0, as: type), scale: try context.input(1, as: type),
      bias: try context.input(2, as: type),
      epsilon: Double(try context.node.float("epsilon", default: 1e-5)),
      channels: channels, channelSize: channelSize, groups: groups)
    let count = groupGeometry.outputCount
    let groupSize = groupGeometry.reducedCount
    try context.withScratch(2 * count, of: Double.self) { mean in
      let variance = mean + count
      guard groupSize > Self.largestCachedGroup else {
        groupGeometry.forEachTile(context, of: Double.self, cost: 6) { tile, scratch in
          groupGeometry.findMoments(of: x, tile, scratch, mean: mean, variance: variance)
          for group in tile.outputs {
            standardizer.run(group, 0..<groupSize, mean[group], variance[group])
          }
        }
        return
      }
      for group in 0..<count {
        try context.findMoments(
          of: x + group * groupSize, count: groupSize, mean: mean + group,
          variance: variance + group)
        context.parallel(groupSize, cost: 2) { elements in
          standardizer.run(group, elements, mean[group], variance[group])
        }
      }
    }
  }

  /// How many elements a group has at most that one thread standardizes from the cache.
  private static let largestCachedGroup = 1 << 18

  /// dX, dscale and dbias of dY, X and scale.
  func runGradient<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let epsilon = try context.node.float("epsilon", default: 1e-5)
    let rows = examples * channels
    try Standardization.ofElements(x, groupGeometry, epsilon: epsilon, context) {
      standardization, _, _ in
      try context.withScratch(3 * rows, of: type) { sums in
        let products = sums + rows
        let center = products + rows
        for row in 0..<rows { center[row] = standardization.center[group(row)] }
        let sum = SumReducer(x: dy)
        let product = CenteredProductReducer(a: dy, x: x, center: center)
        channelGeometry.forEachTile(context, of: type, cost: 2) { tile, scratch in
          channelGeometry.reduce(tile, sum, scratch, into: sums)
          channelGeometry.reduce(tile, product, scratch, into: products)
          for row in tile.outputs {
            products[row] -= standardization.remainder[group(row)] * sums[row]
            products[row] *= standardization.factor[group(row)]
          }
        }
        try fillParameterGradient(1, products, context)
        try fillParameterGradient(2, sums, context)
        guard context.wantsOutput(0) else { return }
        try fillInputGradient(standardization, center, sums: sums, products: products, context)
      }
    }
  }

  /// The sums over all examples of values that each of its channels has.
  private func fillParameterGradient<T: FloatingElement>(
    _ index: Int, _ values: UnsafeMutablePointer<T>, _ context: KernelContext
  ) throws {
    guard context.wantsOutput(index) else { return }
    let gradient = try context.output(index, as: T.self)
    let geometry = context.kept { ReductionGeometry([examples, channels], axes: [0]) }
    let sum = SumReducer(x: UnsafePointer(values))
    geometry.forEachTile(context, of: T.self) { tile, scratch in
      geometry.reduce(tile, sum, scratch, into: gradient)
    }
  }

  /// dx = factor * (g - mean(g) - z * mean(g * z)), with g = dy * scale and means over a group.
  ///
  /// - Parameters:
  ///   - sums: for each channel of each example the sum of dy; is overwritten.
  ///   - products: the sum of dy * z; is overwritten.
  private func fillInputGradient<T: FloatingElement>(
    _ standardization: Standardization<T>, _ center: UnsafeMutablePointer<T>,
    sums: UnsafeMutablePointer<T>, products: UnsafeMutablePointer<T>, _ context: KernelContext
  ) throws {
    let dy = try context.input(0, as: T.self)
    let x = try context.input(1, as: T.self)
    let scale = try context.input(2, as: T.self)
    let dx = try context.output(0, as: T.self)
    let perGroup = groups == 0 ? 0 : channels / groups
    let share = 1 / T(perGroup * channelSize)
    for group in 0..<examples * groups {
      let members = group * perGroup..<(group + 1) * perGroup
      var sum: T = 0
      var product: T = 0
      for row in members {
        sum += sums[row] * scale[row % channels]
        product += products[row] * scale[row % channels]
      }
      for row in members {
        products[row] = product * share * standardization.factor[group]
        sums[row] = sum * share - standardization.remainder[group] * products[row]
      }
    }
    try context.withScratch(2 * examples * channels, of: T.self) { factor in
      let rowScale = factor + examples * channels
      for row in 0..<examples * channels {
        factor[row] = standardization.factor[group(row)]
        rowScale[row] = scale[row % channels]
      }
      channelGeometry.forEachStretch(context, cost: 4) { stretch in
        stretch.forEachElement {
          (
            center: center[$0], product: products[$0], factor: factor[$0], scale: rowScale[$0],
            sum: sums[$0]
          )
        } apply: { i, row in
          let slope = (x[i] - row.center) * row.product
          dx[i] = row.factor * (dy[i] * row.scale - row.sum - slope)
        }
      }
    }
  }
}

/// Standardizes, scales and shifts the elements of a group whose moments are known.
private struct GroupStandardizer<T: FloatingElement>: @unchecked Sendable {
  let x: UnsafePointer<T>
  let y: UnsafeMutablePointer<T>
  let scale: UnsafePointer<T>
  let bias: UnsafePointer<T>
  let epsilon: Double
  let channels: Int
  let channelSize: Int
  let groups: Int

  /// - Parameter elements: some of the group's elements, counted from its first.
  @inline(__always)
  func run(_ group: Int, _ elements: Range<Int>, _ mean: Double, _ variance: Double) {
    let members = channels / groups
    // The mean in two parts, for elements far from 0 whose differences are small.
    let center = T(mean)
    let remainder = T(mean - center.double)
    let deviation = T(1 / (variance + epsilon).squareRoot())
    var start = elements.lowerBound
    while start < elements.upperBound {
      let member = start / channelSize
      let end = min(elements.upperBound, (member + 1) * channelSize)
      let channel = group % groups * members + member
      let factor = deviation * scale[channel]
      let offset = bias[channel] - remainder * factor
      let x = x + group * members * channelSize
      let y = y + group * members * channelSize
      for i in start..<end { y[i] = (x[i] - center) * factor + offset }
      start = end
    }
  }
}

extension TypeContext {
  /// Checks inputs that hold one value for each channel of `shape`, and the attribute `epsilon`.
  func requireChannelParameters(_ indices: Int..., of shape: Shape) throws {
    guard shape.rank >= 2 else {
      throw GraftError(.shapeMismatch, "shape \(shape) has no channels; it must be [N, C, ...]")
    }
    for index in indices {
      try requireShape(index, [shape[1]])
    }
    _ = try node.float("epsilon", default: 1e-5)
  }
}
