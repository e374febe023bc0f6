import GraftGraph
import GraftTensor

/// y = x / (1 + |x|).
///
/// Gradient: dx = dy / (1 + |x|)^2. Source: ONNX Softsign-1.
struct Softsign: UnaryFunction, DifferentiableFunction {
  let name = "Softsign"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x / (1 + x.magnitude) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    let scale = 1 + x.magnitude
    return 1 / (scale * scale)
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("far values", inputs: [.sample([-1e6, 1e6] as [Float])]),
    ]
  }
}
