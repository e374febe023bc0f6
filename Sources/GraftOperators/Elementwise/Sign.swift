import GraftGraph
import GraftTensor

/// y = 1 for x > 0, -1 for x < 0, else x: zero and NaN stay as they are.
///
/// Gradient: 0. Source: ONNX Sign-13.
struct Sign: NumericFunction {
  let name = "Sign"

  @inline(__always)
  func value<T: NumericElement>(_ x: T, _: Void) -> T {
    x > .zero ? T(saturating: 1) : x < .zero ? T(saturating: -1) : x
  }

  let differentiation = Differentiation.zero(because: "it is constant on either side of 0")

  var samples: [OperatorSample] {
    [
      OperatorSample("limits", inputs: [.sample([-.infinity, -3, 0, 1e-30, .nan] as [Float])]),
      OperatorSample("float64", inputs: [.sample([0.5, -2] as [Double])]),
      OperatorSample("int64", inputs: [.sample([5, -3, 0] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([5, -3, 0] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([5, -128, 0] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([5, 200, 0] as [UInt8])]),
    ]
  }
}
