import GraftGraph
import GraftTensor

/// The gradient of GroupNormalization and InstanceNormalization.
///
/// Inputs: dY, X, scale. Attributes: `epsilon` 1e-5 and `num_groups`; without it every channel is a
/// group. Outputs: dX, dscale, dbias; those not wanted may be left out. With
/// z = (x - mean) / sqrt(var + epsilon) and g = dy * scale: dbias = sum(dy) and
/// dscale = sum(dy * z) over all but the channels,
/// dx = (g - mean(g) - z * mean(g * z)) / sqrt(var + epsilon) with means over a group.
struct GroupNormalizationGradient: FloatingOperator {
  let name = "GroupNormalizationGradient"
  let domain = graftDomain
  let inputCount = 3...3
  let outputCount = 1...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    try context.requireSameType(1, 2)
    try context.requireChannelParameters(2, of: x.shape)
    _ = try GroupStandardization(x.shape, groups: try groups(context.node))
    return [x, try context.input(2), try context.input(2)]
  }

  private func groups(_ node: Node) throws -> Int? {
    node.has("num_groups") ? try node.int("num_groups") : nil
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let groups = try groups(context.node)
    let shape = try context.input(1).shape
    try context.kept { try GroupStandardization(shape, groups: groups) }.runGradient(type, context)
  }

  /// The gradient rule of both operators.
  static let rule = Differentiation.rule { builder in
    let gradients = builder.add(
      "GroupNormalizationGradient", domain: graftDomain,
      [builder.outputGradient, builder.input(0), builder.input(1)], builder.node.attributes,
      outputs: (0..<3).map { builder.wants($0) })
    return gradients.map { $0.isEmpty ? nil : $0 }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "all outputs", attributes: ["num_groups": .int(2)],
        inputs: [.random([2, 4, 3]), .random([2, 4, 3], seed: 1), .random([4])], outputCount: 3),
      OperatorSample(
        "misfit", inputs: [.random([2, 3, 4]), .random([2, 3]), .random([3])],
        error: "the gradient has shape [2, 3, 4]"),
    ]
  }
}
