import GraftGraph
import GraftTensor

/// The gradient of Conv for W: dW[m, c, k] = sum over images n and windows o of dY[n, m, o] * X at
/// the position of o's tap k.
///
/// Inputs: dY, X, W (only its shape is read). Attributes: those of Conv.
struct ConvWeightGradient: FloatingOperator {
  let name = "ConvWeightGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let geometry = try ConvolutionGeometry(
      context.node, input: try context.shape(1), weights: try context.shape(2))
    try requireGradientShape(context, geometry.outputShape)
    return [try context.input(2)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let convolution = try context.kept {
      Convolution<T>(
        geometry: try ConvolutionGeometry(
          context.node, input: try context.input(1).shape, weights: try context.input(2).shape),
        threads: context.threads)
    }
    convolution.runWeightGradient(
      try context.input(0, as: type), try context.input(1, as: type),
      try context.output(0, as: type))
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "strides", attributes: ["strides": .ints([2])],
        inputs: [.random([2, 2, 3]), .random([2, 3, 7]), .random([2, 3, 3])]),
      OperatorSample(
        "misfit", inputs: [.random([1, 2, 4]), .random([1, 3, 7]), .random([2, 3, 3])],
        error: "the gradient has shape [1, 2, 4]"),
    ]
  }
}
