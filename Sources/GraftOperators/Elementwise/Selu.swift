import GraftGraph
import GraftTensor

/// y = gamma * x for x > 0, gamma * alpha * (exp(x) - 1) up to 0.
///
/// Attributes: `alpha` 1.67326319217681884765625, `gamma` 1.05070102214813232421875. Gradient:
/// dx = dy * gamma, or dy * gamma * alpha * exp(x) up to 0. Source: ONNX Selu-6.
struct Selu: UnaryFunction, DifferentiableFunction {
  let name = "Selu"

  func parameters(_ node: Node) throws -> (alpha: Float, gamma: Float) {
    (
      try node.float("alpha", default: 1.67326319217681884765625),
      try node.float("gamma", default: 1.05070102214813232421875)
    )
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ p: (alpha: Float, gamma: Float)) -> T {
    T(p.gamma) * (x > 0 ? x : T(p.alpha) * .vectorExpMinusOne(x))
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ p: (alpha: Float, gamma: Float)) -> T {
    T(p.gamma) * (x > 0 ? 1 : T(p.alpha) * .vectorExp(x))
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample(
        "other attributes", attributes: ["alpha": .float(2), "gamma": .float(3)],
        inputs: [.random([7])]),
    ]
  }
}
