import GraftGraph
import GraftTensor

/// y = tanh(x), the hyperbolic tangent.
///
/// Float32 within 1.4 units in the last place. Gradient: dx = dy * (1 - y * y). Source: ONNX
/// Tanh-13.
struct Tanh: UnaryFunction, DifferentiableFunction {
  let name = "Tanh"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .vectorTanh(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { 1 - y * y }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("near 0", inputs: [.sample([0, 1e-6, -1e-3, 0.62, -0.63] as [Float])]),
      OperatorSample(
        "limits", inputs: [.sample([-.infinity, -50, 9, .infinity, .nan] as [Float])],
        differentiableInputs: []),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
      OperatorSample("integers", inputs: [.sample([1, 2] as [Int64])], error: "input 0 is int64"),
    ]
  }
}
