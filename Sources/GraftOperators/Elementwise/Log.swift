import GraftGraph
import GraftTensor

/// y = the natural logarithm of x: minus infinity at 0, NaN below.
///
/// Gradient: dx = dy / x. Source: ONNX Log-13.
struct Log: UnaryFunction, DifferentiableFunction {
  let name = "Log"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .log(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / x }

  var samples: [OperatorSample] {
    [
      OperatorSample("positive", inputs: [.sample([0.01, 0.5, 1, 3, 1000] as [Float])]),
      OperatorSample(
        "limits", inputs: [.sample([0, -1, .infinity] as [Float])], differentiableInputs: []),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
    ]
  }
}
