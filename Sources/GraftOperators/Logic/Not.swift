import GraftGraph
import GraftTensor

/// y = whether x is false. Gradient: 0. Source: ONNX Not-1.
struct Not: Operator {
  let name = "Not"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.bool])
    return [try context.input(0)]
  }

  func run(_ context: KernelContext) throws {
    // Bytes, since a file's bool need not be 0 or 1.
    let x = try context.inputUnits(0, as: UInt8.self)
    let y = try context.outputUnits(0, as: UInt8.self)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = x[i] == 0 ? 1 : 0 }
    }
  }

  let differentiation = Differentiation.zero(because: "its output is true or false")

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.sample([true, false, false, true], [2, 2])]),
      OperatorSample("scalar", inputs: [.sample([true], [])]),
      OperatorSample("empty", inputs: [.sample([] as [Bool])]),
      OperatorSample("numbers", inputs: [.random([2])], error: "input 0 is float32"),
    ]
  }
}
