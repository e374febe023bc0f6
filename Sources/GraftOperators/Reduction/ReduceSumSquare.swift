import GraftGraph
import GraftTensor

/// y = sum(x * x) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers wrap around. The sum of nothing is 0.
/// Gradient: dx = 2 * dy * x. Source: ONNX ReduceSumSquare-18.
struct ReduceSumSquare: ReductionFunction {
  let name = "ReduceSumSquare"

  @inline(__always)
  func term<T: NumericElement>(_ x: T) -> T { .wrappingProduct(x, x) }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { 2 * x }

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [Self.emptySample]
  }
}
