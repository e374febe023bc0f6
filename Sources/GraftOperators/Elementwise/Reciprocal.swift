import GraftGraph
import GraftTensor

/// y = 1 / x; infinite at 0, with the sign of the zero.
///
/// Gradient: dx = -dy * y * y. Source: ONNX Reciprocal-13.
struct Reciprocal: UnaryFunction, DifferentiableFunction {
  let name = "Reciprocal"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / x }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { -y * y }

  var samples: [OperatorSample] {
    [
      OperatorSample("both signs", inputs: [.sample([-4, -0.3, 0.5, 1, 30] as [Float])]),
      OperatorSample(
        "limits", inputs: [.sample([0, -.infinity, .infinity] as [Float])], differentiableInputs: []
      ),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
    ]
  }
}
