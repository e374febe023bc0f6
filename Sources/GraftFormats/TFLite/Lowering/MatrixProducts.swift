import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let matrixProducts: [String: Rule] = [
    "FULLY_CONNECTED": fullyConnected,
    "BATCH_MATMUL": batchProduct,
  ]

  /// Weights [outputs, inputs]; what comes in is a matrix of rows of inputs, whatever its shape.
  private static let fullyConnected: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let output = try context.output(0, of: operation)
    guard try operation.byte(1) == 0 else {
      throw GraftError(.unsupported, "its weights are stored in shuffled order")
    }
    let shape = try context.filterShape(filter, rank: 2)
    var rows = try context.float(input)
    if input.shape.map({ $0.count != 2 || $0[1] != shape[1] }) ?? true {
      rows = context.add("Reshape", [rows, try context.ints([-1, shape[1]])])
    }
    var value = context.add(
      "Gemm",
      [rows, try context.reordered(filter, [0, 1])]
        + (try context.bias(2, of: operation, input: input, filter: filter)),
      ["transB": .int(1)])
    if let sizes = output.shape, sizes.count != 2 {
      value = try context.reshaped(value, to: sizes, last: shape[0], like: input)
    }
    try context.store(
      value, as: output, activation: try FusedActivation(operation, field: 0))
  }

  private static let batchProduct: Rule = { context, operation in
    let (first, second) = (
      try context.input(0, of: operation), try context.input(1, of: operation)
    )
    func operand(_ tensor: TFLiteTensor, _ field: Int) throws -> String {
      let value = try context.float(tensor)
      guard try operation.flag(field) else { return value }
      guard let rank = tensor.shape?.count, rank >= 2 else {
        throw GraftError(.unsupported, "it transposes \(tensor.place), whose rank is unknown")
      }
      let order = Array(0..<rank - 2) + [rank - 1, rank - 2]
      return context.add("Transpose", [value], ["perm": .ints(order)])
    }
    let value = context.add("MatMul", [try operand(first, 0), try operand(second, 1)])
    try context.store(value, as: try context.output(0, of: operation))
  }
}

extension LoweringContext {
  /// A matrix under the shape of a layer's output: the sizes of its input but for the last.
  fileprivate mutating func reshaped(
    _ value: String, to sizes: [Int?], last: Int, like input: TFLiteTensor
  ) throws -> String {
    if sizes.filter({ $0 == nil }).count <= 1 {
      return add("Reshape", [value, try ints(sizes.map { $0 ?? -1 })])
    }
    let outer = add("Shape", [try float(input)], ["end": .int(-1)])
    let shape = add("Concat", [outer, try ints([last])], ["axis": .int(0)])
    return add("Reshape", [value, shape])
  }
}
