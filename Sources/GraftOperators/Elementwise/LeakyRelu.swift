import GraftGraph
import GraftTensor

/// y = x for x >= 0, alpha * x below.
///
/// Attribute `alpha`: the slope below 0, 0.01. Gradient: dx = dy, or alpha * dy below 0. Source: ONNX
/// LeakyRelu-16.
struct LeakyRelu: UnaryFunction, DifferentiableFunction {
  let name = "LeakyRelu"

  func parameters(_ node: Node) throws -> Float {
    try node.float("alpha", default: 0.01)
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? T(alpha) * x : x
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ alpha: Float) -> T {
    x < 0 ? T(alpha) : 1
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("default slope", inputs: [.random([3, 5])]),
      OperatorSample("slope 0.3", attributes: ["alpha": .float(0.3)], inputs: [.random([7])]),
    ]
  }
}
