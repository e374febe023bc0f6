import GraftGraph
import GraftTensor

/// y = the square root of x; NaN below 0.
///
/// Gradient: dx = dy / (2 * y), infinite at 0. Source: ONNX Sqrt-13.
struct Sqrt: UnaryFunction, DifferentiableFunction {
  let name = "Sqrt"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x.squareRoot() }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { 1 / (2 * y) }

  var samples: [OperatorSample] {
    [
      OperatorSample("positive", inputs: [.sample([0.01, 0.5, 1, 3, 1000] as [Float])]),
      OperatorSample(
        "limits", inputs: [.sample([0, -1, .infinity] as [Float])], differentiableInputs: []),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
    ]
  }
}
