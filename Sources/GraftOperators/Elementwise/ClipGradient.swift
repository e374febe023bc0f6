import GraftGraph
import GraftTensor

/// The gradient of Clip: dx = dy where min <= x <= max, else 0.
///
/// Inputs: dy, x and, optionally, the scalars min and max.
struct ClipGradient: FloatingOperator {
  let name = "ClipGradient"
  let domain = graftDomain
  let inputCount = 2...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try Clip.checkBounds(context, 2...3, like: 1)
    return [try gradientType(context, like: 1)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let lowest = try context.inputIfPresent(2, as: type)?.pointee ?? T.lowest
    let highest = try context.inputIfPresent(3, as: type)?.pointee ?? T.highest
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { dx[i] = x[i] < lowest || x[i] > highest ? 0 : dy[i] }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "both bounds",
        inputs: [
          .random([3, 5]), .random([3, 5], seed: 1), .sample([-1] as [Float], []),
          .sample([1] as [Float], []),
        ], differentiableInputs: []),
      OperatorSample(
        "misfit", inputs: [.random([3]), .random([4])], error: "the gradient has shape [3]"),
    ]
  }
}
