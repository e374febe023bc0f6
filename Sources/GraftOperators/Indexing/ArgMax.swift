import GraftGraph
import GraftTensor

/// y = the index of the largest element of x along `axis`; see `ArgumentExtremum`.
///
/// Source: ONNX ArgMax-13.
struct ArgMax: ArgumentExtremum {
  let name = "ArgMax"

  @inline(__always)
  func isBetter<T: NumericElement>(_ a: T, than b: T) -> Bool { a > b }
}
