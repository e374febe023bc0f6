import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = (exp(x) - exp(-x)) / 2.
///
/// Computed in double precision. Gradient: dx = dy * cosh(x). Source: ONNX Sinh-9.
struct Sinh: UnaryFunction, DifferentiableFunction {
  let name = "Sinh"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(sinh, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(cosh, x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("near 0", inputs: [.sample([0, 1e-6, -1e-3] as [Float])]),
    ]
  }
}
