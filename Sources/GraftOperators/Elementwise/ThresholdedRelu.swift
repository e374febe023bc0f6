import GraftGraph
import GraftTensor

/// y = x for x > alpha, else 0.
///
/// Attribute `alpha`: 1. Gradient: dx = dy where x > alpha, else 0. Source: ONNX
/// ThresholdedRelu-10.
struct ThresholdedRelu: UnaryFunction, DifferentiableFunction {
  let name = "ThresholdedRelu"

  func parameters(_ node: Node) throws -> Float {
    try node.float("alpha", default: 1)
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x > T(alpha) ? x : 0
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x > T(alpha) ? 1 : 0
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 2)]),
      OperatorSample("threshold 0.3", attributes: ["alpha": .float(0.3)], inputs: [.random([7])]),
    ]
  }
}
