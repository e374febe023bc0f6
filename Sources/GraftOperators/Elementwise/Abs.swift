import GraftGraph
import GraftTensor

/// y = |x|; the lowest integer of a signed type stays as it is.
///
/// Gradient: dx = dy * sign(x). Source: ONNX Abs-13.
struct Abs: NumericFunction, DifferentiableFunction {
  let name = "Abs"

  @inline(__always)
  func value<T: NumericElement>(_ x: T, _: Void) -> T {
    // The difference also clears the sign of -0.
    x > .zero ? x : .wrappingDifference(.zero, x)
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T { x > 0 ? 1 : x < 0 ? -1 : 0 }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample(
        "limits", inputs: [.sample([-.infinity, -0.0, .infinity] as [Float])],
        differentiableInputs: []),
      OperatorSample("float64", inputs: [.sample([0.5, -2] as [Double])]),
      OperatorSample("int64", inputs: [.sample([5, -3, 0] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([5, -3, 0] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([5, -3, 127] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([5, 200, 0] as [UInt8])]),
      OperatorSample(
        "booleans", inputs: [.sample([true, false])], error: "input 0 is bool"),
    ]
  }
}
