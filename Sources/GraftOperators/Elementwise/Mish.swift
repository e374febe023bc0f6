import GraftGraph
import GraftTensor

/// y = x * tanh(log(1 + exp(x))).
///
/// With e = exp(x) the hyperbolic tangent is e * (e + 2) / (e * (e + 2) + 2); from x = 20 on it is 1.
/// Gradient: dx = dy * (t + x * (1 - t * t) / (1 + exp(-x))) for that tangent t. Source: ONNX
/// Mish-18.
struct Mish: UnaryFunction, DifferentiableFunction {
  let name = "Mish"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x * gate(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    let t = gate(x)
    return t + x * (1 - t * t) * logistic(x)
  }

  /// The hyperbolic tangent of log(1 + exp(x)).
  @inline(__always)
  private func gate<T: FloatingElement>(_ x: T) -> T {
    let e = T.vectorExp(x > 20 ? 20 : x)
    let n = e * (e + 2)
    return n / (n + 2)
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 2)]),
      OperatorSample("far values", inputs: [.sample([-80, -20, 0, 20, 200] as [Float])]),
    ]
  }
}
