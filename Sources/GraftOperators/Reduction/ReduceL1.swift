import GraftGraph
import GraftTensor

/// y = sum(|x|) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers wrap around. The sum of nothing is 0.
/// Gradient: dx = dy * sign(x). Source: ONNX ReduceL1-18.
struct ReduceL1: ReductionFunction {
  let name = "ReduceL1"

  @inline(__always)
  func term<T: NumericElement>(_ x: T) -> T { x < .zero ? .wrappingDifference(.zero, x) : x }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { x > 0 ? 1 : x < 0 ? -1 : x * 0 }

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [
      Self.emptySample,
      OperatorSample("negative integers", inputs: [.sample([-3, 2, -9] as [Int32])]),
    ]
  }
}
