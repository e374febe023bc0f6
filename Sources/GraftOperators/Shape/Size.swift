import GraftGraph
import GraftTensor

/// y = how many elements x has, as an int64 scalar.
///
/// Source: ONNX Size-21.
struct Size: Operator {
  let name = "Size"
  let inputCount = 1...1
  let readsShapesOnly = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try context.shape(0).checkedElementCount()
    return [TensorType(.int64, [])]
  }

  func run(_ context: KernelContext) throws {
    let y = try context.output(0, as: Int64.self)
    y[0] = Int64(try context.input(0).elementCount)
  }

  let differentiation = Differentiation.zero(because: "a size does not change with the values")

  var samples: [OperatorSample] {
    [
      OperatorSample("cube", inputs: [.random([2, 3, 4])]),
      OperatorSample("scalar", inputs: [.random([])]),
      OperatorSample("empty", inputs: [.random([0, 3])]),
      OperatorSample("bool", inputs: [.sample([true, false])]),
    ]
  }
}
