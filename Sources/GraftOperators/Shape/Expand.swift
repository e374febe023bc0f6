import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x repeated along axes of size 1 and new leading axes, so that x and a tensor of the shape in
/// input 1 broadcast.
///
/// Gradient: the sum over what was repeated. Source: ONNX Expand-13.
struct Expand: MovingOperator {
  let name = "Expand"
  let inputCount = 2...2
  let copiesInputOfSameType = true
  let broadcasts = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let shape = try input.shape.broadcast(with: try context.shapeValue(1))
    return [TensorType(input.elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let input = try context.input(0).shape
    context.kept { StridedCopy(shape, input.broadcastStrides(to: shape)) }
      .run(
        context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit)
      )
  }

  let differentiation = Differentiation.rule { builder in
    [builder.wants(0) ? builder.outputGradient : nil, nil]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("rows", inputs: [.random([3, 1]), .sample([3, 4] as [Int64])]),
      OperatorSample("new axes", inputs: [.random([3]), .sample([2, 4, 3] as [Int64])]),
      OperatorSample("both ways", inputs: [.random([3, 1, 2]), .sample([4, 1] as [Int64])]),
      OperatorSample("scalar", inputs: [.random([]), .sample([2, 3] as [Int64])]),
      OperatorSample("to a scalar", inputs: [.random([]), .sample([] as [Int64])]),
      OperatorSample("empty", inputs: [.random([1, 2]), .sample([0, 2] as [Int64])]),
      OperatorSample("bool", inputs: [.sample([true, false]), .sample([2, 2] as [Int64])]),
      OperatorSample(
        "integers", inputs: [.sample([7, 8] as [Int64], [2, 1]), .sample([2, 3] as [Int64])]),
      OperatorSample(
        "misfit", inputs: [.random([3]), .sample([2] as [Int64])],
        error: "[3] and [2] do not broadcast"),
      OperatorSample(
        "negative", inputs: [.random([3]), .sample([-1] as [Int64])],
        error: "cannot have the shape [-1]"),
    ]
  }
}
