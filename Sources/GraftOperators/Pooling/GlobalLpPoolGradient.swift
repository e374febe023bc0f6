import GraftGraph
import GraftTensor

/// The gradient of GlobalLpPool: dx = dy * sign(x) * (|x| / y)^(p - 1).
///
/// Inputs: dY, X, Y. Attribute `p`: 2.
struct GlobalLpPoolGradient: FloatingOperator {
  let name = "GlobalLpPoolGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try LpNorm<Float>(context.node)
    try requireOutput(context)
    return [try globalPoolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let norm = try LpNorm<T>(context.node)
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let y = try context.input(2, as: type)
    let dx = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 1) { plane, count in
      for i in plane * count..<(plane + 1) * count {
        dx[i] = dy[plane] * norm.derivative(x[i], norm: y[plane])
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "picture",
        inputs: [.random([2, 3, 1, 1]), .random([2, 3, 4, 5]), .random([2, 3, 1, 1], offset: 9)]),
      OperatorSample(
        "misfit",
        inputs: [.random([2, 3, 1]), .random([2, 3, 4, 5]), .random([2, 3, 1])],
        error: "the gradient has shape [2, 3, 1]"),
    ]
  }
}
