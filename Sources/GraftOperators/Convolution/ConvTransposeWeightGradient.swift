import GraftGraph
import GraftTensor

/// The gradient of ConvTranspose for W: dW[c, m, k] = sum over images n and positions i of X[n, c, i]
/// times dY[n, m] at the position that tap k of i reaches.
///
/// Inputs: dY, X, W. Attributes: those of ConvTranspose.
struct ConvTransposeWeightGradient: FloatingOperator {
  let name = "ConvTransposeWeightGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let geometry = try ConvolutionGeometry(
      transposing: context.node, input: try context.shape(1), weights: try context.shape(2))
    try requireGradientShape(context, geometry.inputShape)
    return [try context.input(2)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let convolution = try context.kept {
      Convolution<T>(
        geometry: try ConvolutionGeometry(
          transposing: context.node, input: try context.input(1).shape,
          weights: try context.input(2).shape),
        threads: context.threads)
    }
    convolution.runWeightGradient(
      try context.input(1, as: type), try context.input(0, as: type),
      try context.output(0, as: type))
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "strides", attributes: ["strides": .ints([2])],
        inputs: [.random([2, 3, 7]), .random([2, 2, 3]), .random([2, 3, 3])]),
      OperatorSample(
        "misfit", inputs: [.random([1, 3, 6]), .random([1, 2, 3]), .random([2, 3, 3])],
        error: "the gradient has shape [1, 3, 6]"),
    ]
  }
}
