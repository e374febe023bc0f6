import GraftGraph
import GraftTensor

/// The gradient of GlobalMaxPool: a plane's gradient goes to the first of its largest elements.
///
/// Inputs: dY, X.
struct GlobalMaxPoolGradient: FloatingOperator {
  let name = "GlobalMaxPoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try globalPoolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 1) { plane, count in
      guard count > 0 else { return }
      let target = dx + plane * count
      target.update(repeating: 0, count: count)
      target[firstMaximum(x + plane * count, count)] = dy[plane]
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
