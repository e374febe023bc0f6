import GraftGraph
import GraftTensor

/// y = the largest of all inputs at each place, broadcasting; NaN if there is one.
///
/// Gradients: dy where the input is the largest, shared equally by equal ones. Source: ONNX Max-13.
struct Max: VariadicFunction {
  let name = "Max"
  let elementTypes = ElementType.numeric

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { b > a || b != b ? b : a }

  let differentiation = Differentiation.rule { extremumGradients(&$0) }

  var samples: [OperatorSample] {
    [
      OperatorSample("one", inputs: [.random([3, 5])]),
      OperatorSample("two", inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "three broadcast", inputs: [.random([5]), .random([3, 1]), .random([2, 1, 1])]),
      OperatorSample("a scalar", inputs: [.random([7]), .sample([0.1] as [Float], [])]),
      OperatorSample(
        "NaN", inputs: [.sample([.nan, 1] as [Float]), .sample([2, .nan] as [Float])],
        differentiableInputs: []),
      OperatorSample(
        "float64", inputs: [.sample([0.5, 2] as [Double]), .sample([1] as [Double])]),
      OperatorSample("int64", inputs: [.sample([3, -4] as [Int64]), .sample([-1] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([3, -4] as [Int32]), .sample([-1] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([3, -4] as [Int8]), .sample([-1] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([3, 200] as [UInt8]), .sample([9] as [UInt8])]),
      OperatorSample(
        "misfit", inputs: [.random([2]), .random([1]), .random([3])],
        error: "[2] and [3] do not broadcast"),
    ]
  }
}
