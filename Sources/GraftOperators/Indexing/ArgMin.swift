import GraftGraph
import GraftTensor

/// y = the index of the smallest element of x along `axis`; see `ArgumentExtremum`.
///
/// Source: ONNX ArgMin-13.
struct ArgMin: ArgumentExtremum {
  let name = "ArgMin"

  @inline(__always)
  func isBetter<T: NumericElement>(_ a: T, than b: T) -> Bool { a < b }
}
