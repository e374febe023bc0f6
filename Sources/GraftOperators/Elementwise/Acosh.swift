import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = log(x + sqrt(x * x - 1)), the inverse of Cosh; NaN below 1.
///
/// Computed in double precision. Gradient: dx = dy / sqrt(x * x - 1), infinite at 1. Source: ONNX
/// Acosh-9.
struct Acosh: UnaryFunction, DifferentiableFunction {
  let name = "Acosh"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(acosh, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / ((x - 1) * (x + 1)).squareRoot() }

  var samples: [OperatorSample] {
    [
      OperatorSample("above 1", inputs: [.sample([1.01, 1.5, 3, 10, 1000] as [Float])]),
      OperatorSample(
        "end and outside", inputs: [.sample([1, 0.5] as [Float])], differentiableInputs: []),
    ]
  }
}
