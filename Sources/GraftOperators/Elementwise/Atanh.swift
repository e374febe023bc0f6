import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = log((1 + x) / (1 - x)) / 2, the inverse of Tanh; NaN outside -1 ... 1.
///
/// Computed in double precision. Gradient: dx = dy / (1 - x * x), infinite at -1 and 1. Source:
/// ONNX Atanh-9.
struct Atanh: UnaryFunction, DifferentiableFunction {
  let name = "Atanh"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(atanh, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / ((1 - x) * (1 + x)) }

  var samples: [OperatorSample] {
    [
      OperatorSample("inside", inputs: [.sample([-0.9, -0.5, 0, 0.1, 0.99] as [Float])]),
      OperatorSample(
        "ends and outside", inputs: [.sample([-1, 1, 1.5] as [Float])], differentiableInputs: []),
    ]
  }
}
