import GraftGraph
import GraftTensor

/// The gradient of Softmax: dx = y * (dy - sum(dy * y)) along `axis` (-1). Inputs: dy, y.
struct SoftmaxGradient: FloatingOperator {
  let name = "SoftmaxGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let y = try gradientType(context, like: 1)
    _ = try y.shape.axis(try context.node.int("axis", default: -1))
    return [y]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 1)
    let dy = try context.input(0, as: type)
    let y = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(geometry.outputCount, of: type) { sums in
      let reducer = ProductSumReducer(a: dy, b: y)
      geometry.forEachTile(context, of: type, cost: 4) { tile, scratch in
        geometry.reduce(tile, reducer, scratch, into: sums)
        geometry.forEachElement(of: tile) {
          sums[$0]
        } apply: { i, sum in
          dx[i] = y[i] * (dy[i] - sum)
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
