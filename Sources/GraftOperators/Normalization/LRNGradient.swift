import GraftGraph
import GraftTensor

/// The gradient of LRN.
///
/// Inputs: dy, x; the attributes of the forward node. With s = bias + alpha / size * q:
/// dx = dy * s^-beta - 2 * alpha / size * beta * x * sum(dy * x * s^(-beta - 1)), the sum over the
/// elements whose window holds x.
struct LRNGradient: FloatingOperator {
  let name = "LRNGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    _ = try ChannelWindows(context.node, x.shape)
    _ = try LRN.Coefficients(context.node)
    return [x]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let windows = try ChannelWindows(context.node, try context.input(1).shape)
    let coefficients = try LRN.Coefficients(context.node)
    let (alpha, beta, bias) = (
      T(coefficients.alpha), T(coefficients.beta), T(coefficients.bias)
    )
    let count = try context.input(1).elementCount
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(2 * count, of: type) { terms in
      let scales = terms + count
      context.parallel(count) { range in for i in range { terms[i] = x[i] * x[i] } }
      windows.sum(terms, into: scales, context)
      context.parallel(count, cost: 32) { range in
        for i in range {
          let scale = bias + alpha * scales[i]
          scales[i] = .pow(scale, -beta)
          terms[i] = dy[i] * x[i] * scales[i] / scale
        }
      }
      windows.sum(terms, into: dx, mirrored: true, context)
      context.parallel(count, cost: 4) { range in
        for i in range { dx[i] = dy[i] * scales[i] - 2 * alpha * beta * x[i] * dx[i] }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "even size", attributes: ["size": .int(2)],
        inputs: [.random([1, 3, 2]), .random([1, 3, 2], seed: 1)]),
      OperatorSample(
        "misfit", attributes: ["size": .int(3)], inputs: [.random([1, 3]), .random([1, 4])],
        error: "the gradient has shape [1, 3]"),
    ]
  }
}
