import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = max(0, x) + min(0, alpha * (exp(x / alpha) - 1)): x for x >= 0, the other term below.
///
/// Attribute `alpha`: 1; it must not be 0. Gradient: dx = dy, or dy * exp(x / alpha) below 0.
/// Source: ONNX Celu-12.
struct Celu: UnaryFunction, DifferentiableFunction {
  let name = "Celu"

  func parameters(_ node: Node) throws -> Float {
    let alpha = try node.float("alpha", default: 1)
    guard alpha != 0 else {
      throw GraftError(.damaged, "alpha is 0, and x is divided by it", fix: "Give another alpha")
    }
    return alpha
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? T(alpha) * .vectorExpMinusOne(x / T(alpha)) : x
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? .vectorExp(x / T(alpha)) : 1
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("slope 0.3", attributes: ["alpha": .float(0.3)], inputs: [.random([7])]),
      OperatorSample(
        "division by 0", attributes: ["alpha": .float(0)], inputs: [.random([2])],
        error: "alpha is 0"),
    ]
  }
}
