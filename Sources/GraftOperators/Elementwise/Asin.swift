import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = the angle from -pi/2 to pi/2 whose sine is x; NaN outside -1 ... 1.
///
/// Computed in double precision. Gradient: dx = dy / sqrt(1 - x * x), infinite at -1 and 1. Source:
/// ONNX Asin-7.
struct Asin: UnaryFunction, DifferentiableFunction {
  let name = "Asin"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(asin, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / (1 - x * x).squareRoot() }

  var samples: [OperatorSample] {
    [
      OperatorSample("inside", inputs: [.sample([-0.9, -0.5, 0, 0.1, 0.99] as [Float])]),
      OperatorSample(
        "ends and outside", inputs: [.sample([-1, 1, 1.5] as [Float])], differentiableInputs: []),
    ]
  }
}
