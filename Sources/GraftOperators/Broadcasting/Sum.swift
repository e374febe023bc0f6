import GraftGraph
import GraftTensor

/// y = the sum of all inputs at each place, broadcasting, added from left to right.
///
/// Gradients: dy for every input. Source: ONNX Sum-13.
struct Sum: VariadicFunction {
  let name = "Sum"
  let elementTypes = ElementType.floating

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingSum(a, b) }

  let differentiation = Differentiation.rule { builder in
    builder.node.inputs.map { _ in builder.outputGradient }
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("one", inputs: [.random([3, 5])]),
      OperatorSample("two", inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "three broadcast", inputs: [.random([5]), .random([3, 1]), .random([2, 1, 1])]),
      OperatorSample(
        "float64", inputs: [.sample([0.5, 2] as [Double]), .sample([1] as [Double])]),
      OperatorSample(
        "integers", inputs: [.sample([1] as [Int64]), .sample([1] as [Int64])],
        error: "input 0 is int64"),
    ]
  }
}
