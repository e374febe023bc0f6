import GraftGraph
import GraftTensor

/// The gradient of Softmax: dx = y * (dy - sum(dy * y)) along `axis` (-1). Inputs: dy, y.
struct SoftmaxGradient: FloatingOperator {
  let name = "SoftmaxGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] { [try context.input(1)] }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let y = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    let lines = AxisLines(
      try context.input(1).shape, axis: try context.node.int("axis", default: -1))
    lines.run(context, cost: 4) { start, step, count in
      var sum: T = 0
      for i in 0..<count { sum += dy[start + i &* step] * y[start + i &* step] }
      for i in 0..<count {
        let position = start + i &* step
        dx[position] = y[position] * (dy[position] - sum)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
