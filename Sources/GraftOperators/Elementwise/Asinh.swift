import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = log(x + sqrt(x * x + 1)), the inverse of Sinh.
///
/// Computed in double precision. Gradient: dx = dy / sqrt(x * x + 1). Source: ONNX Asinh-9.
struct Asinh: UnaryFunction, DifferentiableFunction {
  let name = "Asinh"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(asinh, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / (x * x + 1).squareRoot() }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("near 0", inputs: [.sample([0, 1e-6, -1e-3] as [Float])]),
    ]
  }
}
