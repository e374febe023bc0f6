import GraftGraph
import GraftTensor

/// y = the nearest whole number, the even one of two equally near. Gradient: 0. Source: ONNX
/// Round-11.
struct Round: UnaryFunction {
  let name = "Round"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x.rounded(.toNearestOrEven) }

  let differentiation = Differentiation.zero(because: "it is constant between its steps")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "both signs", inputs: [.sample([-2.5, -1.5, -0.5, -0.2, 0, 0.5, 1.5, 2.5, 3] as [Float])]),
      OperatorSample("large and infinite", inputs: [.sample([1e10, -1e30, .infinity] as [Float])]),
      OperatorSample("float64", inputs: [.sample([-0.5, 1e15] as [Double])]),
      OperatorSample("empty", inputs: [.random([0, 3])]),
    ]
  }
}
