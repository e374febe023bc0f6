import GraftGraph
import GraftTensor

/// One step of gradient descent: p - rate * g.
///
/// Inputs: parameter p and gradient g, of one type and shape; learning rate, one float. Output: the
/// new p. Source: the operator SGDOptimizerV2 of com.microsoft.
struct SGDUpdate: FloatingOperator {
  let name = "SGDUpdate"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let parameter = try parameterType(context, followers: 1...1)
    try context.requireLearningRate(2)
    return [parameter]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let rate = T(try context.learningRate(2))
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let newP = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount, cost: 2) { range in
      for i in range { newP[i] = p[i] - rate * g[i] }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "matrix",
        inputs: [.random([3, 5]), .random([3, 5], seed: 1), .sample([0.1] as [Float], [])]),
      OperatorSample(
        "many rates", inputs: [.random([3]), .random([3], seed: 1), .random([3])],
        error: "input 2 has shape [3]; it must hold one element"),
    ]
  }
}
