import GraftGraph
import GraftTensor

/// y = the error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.
///
/// Float32 within 1.5 units in the last place. Gradient: dx = dy * 2 / sqrt(pi) * exp(-x * x).
/// Source: ONNX Erf-13.
struct Erf: UnaryFunction, DifferentiableFunction {
  let name = "Erf"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .vectorErf(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    // 2 / sqrt(pi)
    T(1.1283791670955126) * .vectorExp(-x * x)
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("near 0 and 1", inputs: [.sample([0, 1e-6, -1e-3, 0.99, -1.01] as [Float])]),
      OperatorSample(
        "limits", inputs: [.sample([-.infinity, -50, 4, .infinity] as [Float])],
        differentiableInputs: []),
    ]
  }
}
