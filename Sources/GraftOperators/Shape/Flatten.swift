import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x as a matrix: the axes before `axis` (1) become the rows, the others the columns.
///
/// Source: ONNX Flatten-21.
struct Flatten: ReshapingOperator {
  let name = "Flatten"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let rank = input.shape.rank
    let axis = try context.node.int("axis", default: 1)
    guard axis >= -rank, axis <= rank else {
      throw GraftError(
        .invalidArgument,
        "axis \(axis) is outside -\(rank) ... \(rank) for an input of shape \(input.shape)")
    }
    let split = axis < 0 ? axis + rank : axis
    let rows = try Shape(Array(input.shape.prefix(split))).checkedElementCount()
    let columns = try Shape(Array(input.shape.dropFirst(split))).checkedElementCount()
    return [TensorType(input.elementType, [rows, columns])]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("default axis", inputs: [.random([2, 3, 4])]),
      OperatorSample("axis 0", attributes: ["axis": .int(0)], inputs: [.random([2, 3])]),
      OperatorSample("after all", attributes: ["axis": .int(2)], inputs: [.random([2, 3])]),
      OperatorSample("negative", attributes: ["axis": .int(-1)], inputs: [.random([2, 3, 4])]),
      OperatorSample("scalar", attributes: ["axis": .int(0)], inputs: [.random([])]),
      OperatorSample("empty", inputs: [.random([2, 0, 3])]),
      OperatorSample(
        "no such axis", attributes: ["axis": .int(3)], inputs: [.random([2, 3])],
        error: "axis 3 is outside -2 ... 2"),
    ]
  }
}
