import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = log(sum(x)) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers round towards zero. A negative sum gives NaN, no
/// elements give minus infinity. Gradient: dx = dy / sum(x). Source: ONNX ReduceLogSum-18.
struct ReduceLogSum: ReductionFunction {
  let name = "ReduceLogSum"

  @inline(__always)
  func result<T: NumericElement>(_ total: T, count: Int) -> T { T(saturating: log(total.double)) }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { 1 }

  @inline(__always)
  func share<T: FloatingElement>(_ y: T, count: Int) -> T { .exp(-y) }

  var samples: [OperatorSample] {
    Self.axisSamples(offset: 3) + Self.integerSamples + [Self.emptySample]
  }
}
