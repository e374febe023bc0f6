import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y[i0, ..., i] = x at the same place, but with the index found there along `axis` (0).
///
/// The indices are int64 or int32, of x's rank and nowhere larger than x but along the axis; the
/// output has their shape. Negative ones count from the end; one outside is an error. Gradient: zeros
/// with dy added at the elements taken. Source: ONNX GatherElements-13.
struct GatherElements: MovingOperator {
  let name = "GatherElements"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let data = try context.input(0)
    try context.require(1, ElementType.integers)
    let axis = try data.shape.axis(try context.node.int("axis", default: 0))
    let shape = try context.shape(1)
    try ElementPositions.check(data.shape, shape, axis: axis)
    return [TensorType(data.elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    try ElementPositions.find(context, data: shape, indices: 1, axis: axis) { positions in
      context.parallel(positions.count, cost: 2) { range in
        for i in range { y[i] = x[positions[i]] }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    var attributes = builder.node.attributes
    attributes["reduction"] = .string("add")
    let zeros = builder.zeroTensor(like: builder.input(0))
    return [
      builder.add(
        "ScatterElements", [zeros, builder.input(1), builder.outputGradient], attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "rows", inputs: [.random([3, 4]), .sample([0, 2, 1, -1, 2, 2, 0, 1] as [Int64], [2, 4])]),
      OperatorSample(
        "columns", attributes: ["axis": .int(1)],
        inputs: [.random([3, 4]), .sample([0, -1, 3, 3, 1, 2] as [Int32], [3, 2])]),
      OperatorSample(
        "middle axis", attributes: ["axis": .int(-2)],
        inputs: [.random([2, 3, 2]), .sample([0, 2, 1, 0, 2, 2, 1, 0] as [Int64], [2, 2, 2])]),
      OperatorSample(
        "smaller", attributes: ["axis": .int(1)],
        inputs: [.random([3, 4, 2]), .sample([3, 0, 1] as [Int64], [1, 3, 1])]),
      OperatorSample(
        "longer than the axis", inputs: [.random([2]), .sample([0, 1, 1, 0, 0] as [Int64])]),
      OperatorSample("nothing", inputs: [.random([2, 2]), .sample([] as [Int64], [0, 2])]),
      OperatorSample(
        "bool", inputs: [.sample([true, false]), .sample([1, 1, 0] as [Int64])]),
      OperatorSample(
        "outside", inputs: [.random([2]), .sample([-3] as [Int64])],
        error: "index -3 in input 1 is outside the 2 elements of axis 0"),
      OperatorSample(
        "rank", inputs: [.random([2, 2]), .sample([0] as [Int64])],
        error: "they need the rank of the data"),
      OperatorSample(
        "too wide", inputs: [.random([2, 2]), .sample([0, 0, 0] as [Int64], [1, 3])],
        error: "3 places along axis 1"),
    ]
  }
}
