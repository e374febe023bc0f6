import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = tan(x), x in radians.
///
/// Computed in double precision; infinities give NaN. Gradient: dx = dy * (1 + y * y). Source: ONNX
/// Tan-7.
struct Tan: UnaryFunction, DifferentiableFunction {
  let name = "Tan"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(tan, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { 1 + y * y }

  var samples: [OperatorSample] {
    [
      OperatorSample("around 0", inputs: [.sample([-1.5, -0.7, 0, 0.3, 1.2] as [Float])]),
      OperatorSample("far from 0", inputs: [.sample([2.5, 4, -9, 20] as [Float])]),
    ]
  }
}
