import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = the angle from -pi/2 to pi/2 whose tangent is x.
///
/// Computed in double precision. Gradient: dx = dy / (1 + x * x). Source: ONNX Atan-7.
struct Atan: UnaryFunction, DifferentiableFunction {
  let name = "Atan"

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { .apply(atan, x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { 1 / (1 + x * x) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5], scale: 4)]),
      OperatorSample(
        "infinite", inputs: [.sample([-.infinity, .infinity] as [Float])], differentiableInputs: []),
    ]
  }
}
