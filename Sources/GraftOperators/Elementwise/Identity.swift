import GraftGraph
import GraftTensor

/// y = x, for elements of every type.
///
/// Shares the input's memory. Gradient: dx = dy. Source: ONNX Identity-21.
struct Identity: Operator {
  let name = "Identity"
  let inputCount = 1...1
  let viewedInput: Int? = 0

  func outputTypes(_ context: TypeContext) throws -> [TensorType] { [try context.input(0)] }

  func run(_ context: KernelContext) throws { try context.copyElements() }

  let differentiation = Differentiation.rule { builder in [builder.outputGradient] }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("int64", inputs: [.sample([5, -3, 0] as [Int64])]),
      OperatorSample("bool", inputs: [.sample([true, false])]),
      OperatorSample("uint16", inputs: [.sample([5, 60_000] as [UInt16])]),
      OperatorSample("empty", inputs: [.random([0, 5])]),
    ]
  }
}

extension KernelContext {
  /// Copies input 0 to output 0, which has its type and element count.
  func copyElements() throws {
    let x = try input(0)
    try output(0).mutableBytes.copyMemory(from: x.bytes, byteCount: x.byteCount)
  }
}
