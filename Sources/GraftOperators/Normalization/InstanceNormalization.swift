import GraftGraph
import GraftTensor

/// y = (x - mean) / sqrt(var + epsilon) * scale + bias, with the mean and variance of one channel
/// of one example.
///
/// Inputs: X [N, C, ...]; scale and bias, [C]. Attribute `epsilon`: 1e-5. Moments are formed in
/// double precision. Gradients: X, scale and bias. Source: ONNX InstanceNormalization-6.
struct InstanceNormalization: FloatingOperator {
  let name = "InstanceNormalization"
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let x = try context.input(0)
    try context.requireChannelParameters(1, 2, of: x.shape)
    return [x]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    try context.kept { try GroupStandardization(shape, groups: nil) }.run(type, context)
  }

  let differentiation = GroupNormalizationGradient.rule

  var samples: [OperatorSample] {
    func sample(
      _ name: String, _ shape: Shape, epsilon: Float = 1e-5, skipsOracle: Bool = false
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: ["epsilon": .float(epsilon)],
        inputs: [.random(shape), .random([shape[1]], seed: 1), .random([shape[1]], seed: 2)],
        skipsOracle: skipsOracle)
    }
    return [
      sample("picture", [2, 3, 5, 4]),
      sample("sequence", [2, 3, 37], epsilon: 0.1),
      sample("volume", [1, 2, 3, 2, 3]),
      sample("no examples", [0, 3, 4]),
      // The bias alone; ONNX Runtime adds and takes away the scaled mean in single precision.
      sample("channels of one element", [2, 70, 1], skipsOracle: true),
      OperatorSample(
        "vector", inputs: [.random([3]), .random([3]), .random([3])], error: "has no channels"),
    ]
  }
}
