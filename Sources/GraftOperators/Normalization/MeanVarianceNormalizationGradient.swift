import GraftGraph
import GraftTensor

/// The gradient of MeanVarianceNormalization.
///
/// Inputs: dy, x; attribute `axes` as in the forward node. With the standard deviation s,
/// d = x - mean and f = 1 / (s + 1e-9): dx = f * (dy - mean(dy) - d * mean(dy * d) * f / s), the
/// last term 0 where s is 0.
struct MeanVarianceNormalizationGradient: FloatingOperator {
  let name = "MeanVarianceNormalizationGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    _ = try MeanVarianceNormalization.geometry(context.node, x.shape)
    return [x]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try MeanVarianceNormalization.geometry(context.node, try context.input(1).shape)
    }
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try Standardization.ofElements(x, geometry, epsilon: 0, context) {
      standardization, _, variance in
      let (center, factor) = (standardization.center, standardization.factor)
      try context.withScratch(2 * geometry.outputCount, of: type) { means in
        let slopes = means + geometry.outputCount
        let sum = SumReducer(x: dy)
        let product = CenteredProductReducer(a: dy, x: x, center: center)
        geometry.forEachTile(context, of: type, cost: 2) { tile, scratch in
          geometry.reduce(tile, sum, scratch, into: means)
          geometry.reduce(tile, product, scratch, into: slopes)
          for output in tile.outputs {
            let remainder = standardization.remainder[output]
            slopes[output] -= remainder * means[output]
            let deviation = T(variance[output].squareRoot())
            factor[output] = 1 / (deviation + 1e-9)
            slopes[output] *=
              deviation == 0 ? 0 : factor[output] / (deviation * T(geometry.reducedCount))
            means[output] /= T(geometry.reducedCount)
            means[output] -= remainder * slopes[output]
          }
        }
        geometry.forEachStretch(context, cost: 4) { stretch in
          stretch.forEachElement {
            (center: center[$0], slope: slopes[$0], factor: factor[$0], mean: means[$0])
          } apply: { i, output in
            let slope = (x[i] - output.center) * output.slope
            dx[i] = output.factor * (dy[i] - output.mean - slope)
          }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "rows", attributes: ["axes": .ints([1])],
        inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "misfit", attributes: ["axes": .ints([0])], inputs: [.random([3]), .random([4])],
        error: "the gradient has shape [3]"),
    ]
  }
}
