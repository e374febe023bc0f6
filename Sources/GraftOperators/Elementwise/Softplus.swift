import GraftGraph
import GraftTensor

/// y = log(1 + exp(x)).
///
/// Computed as max(x, 0) + log(1 + exp(-|x|)), which neither overflows nor loses small results.
/// Gradient: dx = dy / (1 + exp(-x)). Source: ONNX Softplus-1.
struct Softplus: UnaryFunction, DifferentiableFunction {
  let name = "Softplus"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T {
    (x < 0 ? 0 : x) + .vectorLogOnePlus(.vectorExp(-x.magnitude))
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { logistic(x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("far values", inputs: [.sample([-80, -20, 0, 20, 200] as [Float])]),
    ]
  }
}
