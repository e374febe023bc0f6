import GraftGraph
import GraftTensor

/// y = max(x, 0); NaN stays NaN.
///
/// Gradient: dx = dy where x > 0, else 0. Source: ONNX Relu-14.
struct Relu: NumericFunction, DifferentiableFunction {
  let name = "Relu"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: NumericElement>(_ x: T, _: Void) -> T { x < .zero ? .zero : x }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { y > 0 ? 1 : 0 }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("odd size", inputs: [.random([37], scale: 4)]),
      OperatorSample("float64", inputs: [.sample([0.5, -2] as [Double])]),
      OperatorSample("int32", inputs: [.sample([5, -3, 0] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([5, -3, -128] as [Int8])]),
      OperatorSample("int64", inputs: [.sample([5, -3, 0] as [Int64])], skipsOracle: true),
      OperatorSample("empty", inputs: [.random([2, 0])]),
    ]
  }
}
