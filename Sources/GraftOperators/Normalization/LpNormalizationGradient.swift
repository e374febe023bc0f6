import GraftGraph
import GraftTensor

/// The gradient of LpNormalization: dx = (dy - slope * sum(dy * y)) / norm(x), where
/// y = x / norm(x) and the norm's slope is sign(x) for `p` 1, y for 2; 0 where the norm is 0.
///
/// Inputs: dy, x; the attributes of the forward node.
struct LpNormalizationGradient: FloatingOperator {
  let name = "LpNormalizationGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    try LpNormalization.checkAttributes(context.node, x.shape)
    return [x]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 1)
    let isEuclidean = try context.node.int("p", default: 2) == 2
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(2 * geometry.outputCount, of: type) { factor in
      let products = factor + geometry.outputCount
      let product = ProductSumReducer(a: dy, b: x)
      geometry.forEachTile(context, of: type, cost: 6) { tile, scratch in
        geometry.findInverseNorms(of: x, tile, scratch, isEuclidean: isEuclidean, into: factor)
        geometry.reduce(tile, product, scratch, into: products)
        for line in tile.outputs { products[line] *= factor[line] }
        geometry.forEachElement(of: tile) {
          (factor: factor[$0], product: products[$0])
        } apply: { i, line in
          let sign: T = x[i] > 0 ? 1 : x[i] < 0 ? -1 : 0
          let slope = isEuclidean ? x[i] * line.factor : sign
          dx[i] = line.factor * (dy[i] - slope * line.product)
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample("rows", inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "misfit", inputs: [.random([3]), .random([4])], error: "the gradient has shape [3]"),
    ]
  }
}
