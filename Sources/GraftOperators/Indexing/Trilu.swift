import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x with zeros below (`upper` 1, the default) or above (`upper` 0) the k-th diagonal of each
/// matrix in the last two axes.
///
/// k is the one integer of input 1 (optional, 0: the main diagonal; positive ones lie above it).
/// Gradient: dy cut the same way. Source: ONNX Trilu-14.
struct Trilu: MovingOperator {
  let name = "Trilu"
  let inputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.requireRank(0, 2...Int.max)
    if context.has(1) {
      try context.require(1, ElementType.integers)
      try context.requireSingle(1)
    }
    _ = try context.node.int("upper", default: 1)
    return [try context.input(0)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let input = try context.input(0)
    guard input.elementCount > 0 else { return }
    let (rows, columns) = (input.shape[input.shape.rank - 2], input.shape[input.shape.rank - 1])
    let isUpper = try context.node.int("upper", default: 1) != 0
    let diagonal = context.has(1) ? try context.singleInt(1) : 0
    let offset = min(max(diagonal, -rows), columns)
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    context.parallel(input.elementCount / columns, cost: columns) { range in
      for row in range {
        let place = row % rows + offset
        // The first column on the other side of the diagonal.
        let split = min(max(isUpper ? place : place + 1, 0), columns)
        let kept = isUpper ? split..<columns : 0..<split
        let cleared = isUpper ? 0..<split : split..<columns
        let x = x + row * columns
        let y = y + row * columns
        (y + kept.lowerBound).update(from: x + kept.lowerBound, count: kept.count)
        (y + cleared.lowerBound).update(repeating: 0, count: cleared.count)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    let inputs = [builder.outputGradient] + builder.node.inputs.dropFirst()
    return [builder.add("Trilu", inputs, builder.node.attributes)]
  }

  var samples: [OperatorSample] {
    let lower: [String: Attribute] = ["upper": .int(0)]
    return [
      OperatorSample("upper", inputs: [.random([3, 4])]),
      OperatorSample("lower", attributes: lower, inputs: [.random([4, 3])]),
      OperatorSample("above", inputs: [.random([2, 3, 3]), .sample([1] as [Int64], [])]),
      OperatorSample(
        "lower, below", attributes: lower, inputs: [.random([3, 3]), .sample([-1] as [Int64], [])]),
      OperatorSample(
        "lower, above", attributes: lower, inputs: [.random([3, 5]), .sample([2] as [Int64], [])]),
      OperatorSample("far above", inputs: [.random([2, 3]), .sample([9] as [Int64], [])]),
      OperatorSample("far below", inputs: [.random([2, 3]), .sample([-9] as [Int64], [])]),
      OperatorSample("integers", inputs: [.sample([1, 2, 3, 4] as [Int64], [2, 2])]),
      OperatorSample("bool", inputs: [.sample([true, true, true, true], [2, 2])]),
      OperatorSample("empty", inputs: [.random([0, 2])]),
      OperatorSample("vector", inputs: [.random([3])], error: "its rank must be at least 2"),
    ]
  }
}
