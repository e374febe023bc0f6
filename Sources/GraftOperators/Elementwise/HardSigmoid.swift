import GraftGraph
import GraftTensor

/// y = max(0, min(1, alpha * x + beta)).
///
/// Attributes: `alpha` 0.2, `beta` 0.5. Gradient: dx = dy * alpha where y is between 0 and 1, else
/// 0. Source: ONNX HardSigmoid-6.
struct HardSigmoid: UnaryFunction, DifferentiableFunction {
  let name = "HardSigmoid"

  func parameters(_ node: Node) throws -> (alpha: Float, beta: Float) {
    (try node.float("alpha", default: 0.2), try node.float("beta", default: 0.5))
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ p: (alpha: Float, beta: Float)) -> T {
    let line = T(p.alpha) * x + T(p.beta)
    return line < 0 ? 0 : line > 1 ? 1 : line
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ p: (alpha: Float, beta: Float)) -> T {
    let line = T(p.alpha) * x + T(p.beta)
    return line > 0 && line < 1 ? T(p.alpha) : 0
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample(
        "other attributes", attributes: ["alpha": .float(0.5), "beta": .float(0.25)],
        inputs: [.random([7])]),
    ]
  }
}
