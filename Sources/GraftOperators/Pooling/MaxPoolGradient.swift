import GraftGraph
import GraftTensor

/// The gradient of MaxPool: each window's gradient goes to the first of the largest elements.
///
/// Inputs: dY, X. Attributes: those of MaxPool.
struct MaxPoolGradient: FloatingOperator {
  let name = "MaxPoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try poolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(1).shape)
    }
    let window = geometry.window
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    geometry.forEachPlane(context) { input, output in
      let target = dx + input
      target.update(repeating: 0, count: window.inputCount)
      window.forEachMaximum(in: x + input) { index, position in
        if position >= 0 { target[position] += dy[output &+ index] }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "halved", attributes: ["kernel_shape": .ints([2]), "strides": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7])]),
      OperatorSample(
        "misfit", attributes: ["kernel_shape": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7])], error: "the gradient has shape [1, 2, 3]"),
    ]
  }
}

/// The type of a pooling's gradient, whose inputs are dY and X.
func poolingGradientType(_ context: TypeContext) throws -> TensorType {
  try context.require(0, ElementType.floating)
  try context.requireSameType(0, 1)
  let geometry = try PoolingGeometry(context.node, input: try context.shape(1))
  try requireGradientShape(context, geometry.outputShape)
  return try context.input(1)
}
