import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of Conv for X: dX[n, c, i] = sum over output channels m and windows o with a tap k on
/// i of dY[n, m, o] * W[m, c, k].
///
/// Inputs: dY, W, X (only its shape is read). Attributes: those of Conv.
struct ConvInputGradient: FloatingOperator {
  let name = "ConvInputGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1, 2)
    let geometry = try ConvolutionGeometry(
      context.node, input: try context.shape(2), weights: try context.shape(1))
    try requireGradientShape(context, geometry.outputShape)
    return [try context.input(2)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let convolution = try context.kept {
      Convolution<T>(
        geometry: try ConvolutionGeometry(
          context.node, input: try context.input(2).shape, weights: try context.input(1).shape),
        threads: context.threads)
    }
    try convolution.runInputGradient(
      context, try context.input(0, as: type), try context.input(1, as: type), nil,
      try context.output(0, as: type))
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "strides", attributes: ["strides": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([2, 3, 3]), .random([1, 3, 7])]),
      OperatorSample(
        "misfit", inputs: [.random([1, 2, 4]), .random([2, 3, 3]), .random([1, 3, 7])],
        error: "the gradient has shape [1, 2, 4]"),
    ]
  }
}

/// Checks the shape of input 0, the gradient of an output.
func requireGradientShape(_ context: TypeContext, _ wanted: Shape) throws {
  let shape = try context.shape(0)
  guard shape == wanted else {
    throw GraftError(
      .shapeMismatch, "the gradient has shape \(shape); that of the output is \(wanted)")
  }
}
