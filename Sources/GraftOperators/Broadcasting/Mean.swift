import GraftGraph
import GraftTensor

/// y = the mean of all inputs at each place, broadcasting: their sum divided by their number.
///
/// Gradients: dy divided by the number of inputs, for every input. Source: ONNX Mean-13.
struct Mean: VariadicFunction {
  let name = "Mean"
  let elementTypes = ElementType.floating

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingSum(a, b) }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    try fold(type, context)
    let count = T(saturating: Double(context.inputs.count))
    let y = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = .quotient(y[i], count) }
    }
  }

  /// The division comes behind the fold.
  func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) -> BlockFunction? {
    nil
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let share = builder.add(
      "Div", [dy, builder.scalar(Float(builder.node.inputs.count), like: dy)])
    return builder.node.inputs.map { _ in share }
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("one", inputs: [.random([3, 5])]),
      OperatorSample("two", inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "three broadcast", inputs: [.random([5]), .random([3, 1]), .random([2, 1, 1])]),
      OperatorSample(
        "integers", inputs: [.sample([1] as [Int64]), .sample([1] as [Int64])],
        error: "input 0 is int64"),
    ]
  }
}
