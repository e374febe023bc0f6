import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = sin(x), x in radians.
///
/// Computed in double precision; infinities give NaN. Gradient: dx = dy * cos(x). Source: ONNX
/// Sin-7.
struct Sin: UnaryFunction, DifferentiableFunction {
  let name = "Sin"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(sin, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(cos, x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 3)]),
      OperatorSample("far from 0", inputs: [.sample([3.1415927, -6.2831855, 1000] as [Float])]),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
    ]
  }
}
