import GraftGraph
import GraftTensor

/// y = whether x is not a number. Gradient: 0. Source: ONNX IsNaN-20.
struct IsNaN: FloatingOperator {
  let name = "IsNaN"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    return [TensorType(.bool, try context.shape(0))]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: Bool.self)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = x[i].isNaN }
    }
  }

  let differentiation = Differentiation.zero(because: "its output is true or false")

  var samples: [OperatorSample] {
    [
      OperatorSample("float32", inputs: [.sample([.nan, 1, .infinity, -0.0] as [Float], [2, 2])]),
      OperatorSample("float64", inputs: [.sample([.nan, 1] as [Double])]),
      OperatorSample("empty", inputs: [.random([0])]),
      OperatorSample("integers", inputs: [.sample([1] as [Int32])], error: "input 0 is int32"),
    ]
  }
}
