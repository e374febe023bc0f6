import GraftGraph
import GraftTensor

/// The gradient of GlobalAveragePool: dx = dy / count for every element of a plane.
///
/// Inputs: dY, X (only its shape is read).
struct GlobalAveragePoolGradient: FloatingOperator {
  let name = "GlobalAveragePoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try globalPoolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 1) { plane, count in
      (dx + plane * count).update(repeating: dy[plane] / T(count), count: count)
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 1, 1]), .random([2, 3, 4, 5])]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3, 1]), .random([2, 3, 4, 5])],
        error: "the gradient has shape [2, 3, 1]"),
    ]
  }
}
