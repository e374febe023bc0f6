import GraftGraph
import GraftTensor

/// y = sqrt(sum(x * x)) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers round towards zero. The norm of nothing is 0.
/// Gradient: dx = dy * x / y, and 0 where y is 0. Source: ONNX ReduceL2-18.
struct ReduceL2: ReductionFunction {
  let name = "ReduceL2"

  @inline(__always)
  func term<T: NumericElement>(_ x: T) -> T { .wrappingProduct(x, x) }

  @inline(__always)
  func result<T: NumericElement>(_ total: T, count: Int) -> T {
    T(saturating: total.double.squareRoot())
  }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { x }

  @inline(__always)
  func share<T: FloatingElement>(_ y: T, count: Int) -> T { y == 0 ? 0 : 1 / y }

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [
      Self.emptySample,
      OperatorSample("zeros", inputs: [.sample([0, 0, 0] as [Float])], differentiableInputs: []),
    ]
  }
}
