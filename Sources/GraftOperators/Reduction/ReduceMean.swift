import GraftGraph
import GraftTensor

/// y = sum(x) / n over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers divide towards zero. The mean of nothing is NaN,
/// 0 for integers. Gradient: dx = dy / n. Source: ONNX ReduceMean-18.
struct ReduceMean: ReductionFunction {
  let name = "ReduceMean"

  @inline(__always)
  func result<T: NumericElement>(_ total: T, count: Int) -> T {
    .quotient(total, T(saturating: Double(count)))
  }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { 1 }

  @inline(__always)
  func share<T: FloatingElement>(_ y: T, count: Int) -> T { 1 / T(count) }

  var samples: [OperatorSample] { Self.axisSamples() + Self.integerSamples }
}
