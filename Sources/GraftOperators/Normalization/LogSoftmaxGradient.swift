import GraftGraph
import GraftTensor

/// The gradient of LogSoftmax: dx = dy - exp(y) * sum(dy) along `axis` (-1). Inputs: dy, y.
struct LogSoftmaxGradient: FloatingOperator {
  let name = "LogSoftmaxGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try SoftmaxGradient().outputTypes(context)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 1)
    let dy = try context.input(0, as: type)
    let y = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(geometry.outputCount, of: type) { sums in
      let reducer = SumReducer(x: dy)
      geometry.forEachTile(context, of: type, cost: 12) { tile, scratch in
        geometry.reduce(tile, reducer, scratch, into: sums)
        geometry.forEachElement(of: tile) {
          sums[$0]
        } apply: { i, sum in
          dx[i] = dy[i] - .vectorExp(y[i]) * sum
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  var samples: [OperatorSample] { SoftmaxGradient().samples }
}
