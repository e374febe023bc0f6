import GraftGraph
import GraftTensor

/// y = x for x >= 0, alpha * (exp(x) - 1) below.
///
/// Attribute `alpha`: 1. Gradient: dx = dy, or dy * alpha * exp(x) below 0. Source: ONNX Elu-6.
struct Elu: UnaryFunction, DifferentiableFunction {
  let name = "Elu"

  func parameters(_ node: Node) throws -> Float {
    try node.float("alpha", default: 1)
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? T(alpha) * .vectorExpMinusOne(x) : x
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? T(alpha) * .vectorExp(x) : 1
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("slope 0.3", attributes: ["alpha": .float(0.3)], inputs: [.random([7])]),
      OperatorSample("far values", inputs: [.sample([-200, -1e-5, 0.5, 200] as [Float])]),
    ]
  }
}
