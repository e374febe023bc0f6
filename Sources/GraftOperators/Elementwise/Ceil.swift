import GraftGraph
import GraftTensor

/// y = the smallest whole number from x on. Gradient: 0. Source: ONNX Ceil-13.
struct Ceil: UnaryFunction {
  let name = "Ceil"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x.rounded(.up) }

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
