import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = (exp(x) + exp(-x)) / 2.
///
/// Computed in double precision. Gradient: dx = dy * sinh(x). Source: ONNX Cosh-9.
struct Cosh: UnaryFunction, DifferentiableFunction {
  let name = "Cosh"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(cosh, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(sinh, x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("scalar", inputs: [.random([])]),
    ]
  }
}
