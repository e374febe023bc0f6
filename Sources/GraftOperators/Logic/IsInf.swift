import GraftGraph
import GraftTensor

/// y = whether x is infinite.
///
/// Attributes `detect_positive` and `detect_negative`: 1; with 0 that infinity does not count.
/// Gradient: 0. Source: ONNX IsInf-20.
struct IsInf: FloatingOperator {
  let name = "IsInf"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try detected(context.node)
    return [TensorType(.bool, try context.shape(0))]
  }

  private func detected(_ node: Node) throws -> (negative: Bool, positive: Bool) {
    (
      try node.int("detect_negative", default: 1) != 0,
      try node.int("detect_positive", default: 1) != 0
    )
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let (negative, positive) = try detected(context.node)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: Bool.self)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range {
        y[i] = (positive && x[i] == .infinity) || (negative && x[i] == -.infinity)
      }
    }
  }

  let differentiation = Differentiation.zero(because: "its output is true or false")

  var samples: [OperatorSample] {
    let values = Tensor.sample([.nan, 1, .infinity, -.infinity] as [Float], [2, 2])
    return [
      OperatorSample("both", inputs: [values]),
      OperatorSample("positive", attributes: ["detect_negative": .int(0)], inputs: [values]),
      OperatorSample("negative", attributes: ["detect_positive": .int(0)], inputs: [values]),
      OperatorSample("float64", inputs: [.sample([.infinity, 1] as [Double])]),
      OperatorSample("integers", inputs: [.sample([1] as [Int32])], error: "input 0 is int32"),
    ]
  }
}
