import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of LpPool: dx = sum over windows of dy * sign(x) * (|x| / y)^(p - 1).
///
/// Inputs: dY, X, Y. Attributes: those of LpPool.
struct LpPoolGradient: FloatingOperator {
  let name = "LpPoolGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try LpNorm<Float>(context.node)
    try requireOutput(context)
    return [try poolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(1).shape)
    }
    let window = geometry.window
    let norm = try LpNorm<T>(context.node)
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let y = try context.input(2, as: type)
    let dx = try context.output(0, as: type)
    geometry.forEachPlane(context) { planeInput, planeOutput in
      let target = dx + planeInput
      target.update(repeating: 0, count: window.inputCount)
      let stride = window.width.stride
      for tap in 0..<window.tapCount {
        window.forEachRow(ofTap: tap) { output, count, input in
          for i in 0..<count {
            let position = input &+ stride &* i
            let index = planeOutput &+ output &+ i
            target[position] +=
              dy[index] * norm.derivative(x[planeInput &+ position], norm: y[index])
          }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "halved", attributes: ["kernel_shape": .ints([2]), "strides": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7]), .random([1, 2, 3], offset: 9)]),
      OperatorSample(
        "misfit", attributes: ["kernel_shape": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7]), .random([1, 2, 3])],
        error: "the gradient has shape [1, 2, 3]"),
    ]
  }
}

/// Checks that input 2, an operator's output, has the type and shape of input 0, its gradient.
func requireOutput(_ context: TypeContext) throws {
  try context.requireSameType(0, 2)
  let (gradient, output) = (try context.shape(0), try context.shape(2))
  guard gradient == output else {
    throw GraftError(
      .shapeMismatch, "the gradient has shape \(gradient), the output \(output)")
  }
}
