import GraftGraph
import GraftTensor

/// y = sum(x) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers wrap around. The sum of nothing is 0.
/// Gradient: dx = dy. Source: ONNX ReduceSum-13.
struct ReduceSum: ReductionFunction {
  let name = "ReduceSum"

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { 1 }

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [
      Self.emptySample,
      OperatorSample("bytes", inputs: [.sample([1, 2] as [UInt8])], error: "input 0 is uint8"),
    ]
  }
}
