import GraftGraph
import GraftTensor

/// y = 1 / (1 + exp(-x)).
///
/// Never overflows: exp is taken of -|x|. NaN gives NaN. Gradient: dx = dy * y * (1 - y). Source:
/// ONNX Sigmoid-13.
struct Sigmoid: UnaryFunction, DifferentiableFunction {
  let name = "Sigmoid"
  let derivativeReadsOutput = true

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { logistic(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ y: T, _: Void) -> T { y * (1 - y) }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("far values", inputs: [.sample([-200, -20, 0, 20, 200] as [Float])]),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
      OperatorSample("empty", inputs: [.random([0, 2])]),
      OperatorSample(
        "integers", inputs: [.sample([1, 2] as [Int64])], error: "input 0 is int64"),
    ]
  }
}

/// 1 / (1 + exp(-x)).
@inline(__always)
func logistic<T: FloatingElement>(_ x: T) -> T {
  let e = T.vectorExp(-x.magnitude)
  return (x < 0 ? e : 1) / (1 + e)
}
