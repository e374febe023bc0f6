import GraftGraph
import GraftTensor

/// y = whether a >= b, broadcasting; false where either is NaN. Gradient: 0. Source: ONNX
/// GreaterOrEqual-16.
struct GreaterOrEqual: Comparison {
  let name = "GreaterOrEqual"

  @inline(__always)
  func holds<T: NumericElement>(_ a: T, _ b: T) -> Bool { a >= b }

  var samples: [OperatorSample] { comparisonSamples() }
}
