import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = cos(x), x in radians.
///
/// Computed in double precision; infinities give NaN. Gradient: dx = -dy * sin(x). Source: ONNX
/// Cos-7.
struct Cos: UnaryFunction, DifferentiableFunction {
  let name = "Cos"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(cos, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { -.apply(sin, x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("empty", inputs: [.random([0])]),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
    ]
  }
}
