import GraftGraph
import GraftTensor

/// y = e to the power of x.
///
/// Float32 within 1.1 units in the last place. Gradient: dx = dy * y. Source: ONNX Exp-13.
struct Exp: UnaryFunction, DifferentiableFunction {
  let name = "Exp"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .vectorExp(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { y }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample(
        "limits", inputs: [.sample([-.infinity, -200, 0, 200, .infinity, .nan] as [Float])],
        differentiableInputs: []),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
      OperatorSample("empty", inputs: [.random([0, 3])]),
    ]
  }
}
