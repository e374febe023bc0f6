import GraftGraph
import GraftTensor

/// y = x * max(0, min(1, x / 6 + 0.5)).
///
/// Gradient: dx = 0 up to -3, dy from 3 on, dy * (x / 3 + 0.5) between. Source: ONNX HardSwish-14.
struct HardSwish: UnaryFunction, DifferentiableFunction {
  let name = "HardSwish"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T {
    let gate = x * T(1.0 / 6) + 0.5
    return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate)
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    x <= -3 ? 0 : x >= 3 ? 1 : x * T(1.0 / 3) + 0.5
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("far values", inputs: [.sample([-100, -3.5, 3.5, 100] as [Float])]),
    ]
  }
}
