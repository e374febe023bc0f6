import GraftGraph
import GraftTensor

/// y = whether a < b, broadcasting; false where either is NaN. Gradient: 0. Source: ONNX
/// Less-13.
struct Less: Comparison {
  let name = "Less"

  @inline(__always)
  func holds<T: NumericElement>(_ a: T, _ b: T) -> Bool { a < b }

  var samples: [OperatorSample] { comparisonSamples() }
}
