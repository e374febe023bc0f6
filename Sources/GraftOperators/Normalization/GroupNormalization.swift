import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = (x - mean) / sqrt(var + epsilon) * scale + bias, with the mean and variance of a group of
/// neighbouring channels of one example.
///
/// Inputs: X [N, C, ...]; scale and bias, [C]. Attributes: `num_groups`, a divisor of C; `epsilon`
/// 1e-5; `stash_type`, which changes nothing: moments are always formed in double precision.
///
/// Gradients: X, scale and bias. Source: ONNX GroupNormalization-21.
struct GroupNormalization: FloatingOperator {
  let name = "GroupNormalization"
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let x = try context.input(0)
    _ = try GroupStandardization(x.shape, groups: try context.node.int("num_groups"))
    try context.requireChannelParameters(1, 2, of: x.shape)
    return [x]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let groups = try context.node.int("num_groups")
    let shape = try context.input(0).shape
    try context.kept { try GroupStandardization(shape, groups: groups) }.run(type, context)
  }

  let differentiation = GroupNormalizationGradient.rule

  var samples: [OperatorSample] {
    func sample(
      _ name: String, _ shape: Shape, groups: Int, epsilon: Float = 1e-5,
      skipsOracle: Bool = false
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: ["num_groups": .int(groups), "epsilon": .float(epsilon)],
        inputs: [.random(shape), .random([shape[1]], seed: 1), .random([shape[1]], seed: 2)],
        skipsOracle: skipsOracle)
    }
    return [
      sample("picture", [2, 6, 3, 4], groups: 2),
      sample("one group", [2, 4, 5], groups: 1, epsilon: 0.1),
      sample("a group for each channel", [3, 4, 5], groups: 4),
      sample("matrix", [3, 6], groups: 3),
      sample("long", [2, 4, 170], groups: 2),
      sample("no examples", [0, 4, 5], groups: 2, skipsOracle: true),
      OperatorSample(
        "larger than a cache", attributes: ["num_groups": .int(1)],
        inputs: [.random([1, 3, 100_000]), .random([3], seed: 1), .random([3], seed: 2)],
        differentiableInputs: []),
      OperatorSample(
        "uneven groups", attributes: ["num_groups": .int(4)],
        inputs: [.random([2, 6, 3]), .random([6]), .random([6])],
        error: "6 channels cannot be divided into 4 groups"),
      OperatorSample(
        "misfit", attributes: ["num_groups": .int(2)],
        inputs: [.random([2, 6, 3]), .random([2]), .random([6])], error: "input 1 has shape [2]"),
    ]
  }
}
