import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the slices of x that tuples of int64 or int32 indices name.
///
/// Shapes: x [B..., D1, ..., Dq, S...], indices [B..., I..., q] -> y [B..., I..., S...], where
/// `batch_dims` (0) is the rank of B. Negative indices count from the end; one outside its axis is an
/// error. Gradient: zeros with dy added at the slices taken. Source: ONNX GatherND-13.
struct GatherND: MovingOperator {
  let name = "GatherND"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let data = try context.input(0)
    try context.require(1, ElementType.integers)
    let tuples = try TuplePositions(
      data: data.shape, indices: try context.shape(1),
      batchAxes: try context.node.int("batch_dims", default: 0))
    return [TensorType(data.elementType, tuples.slicesShape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let tuples = try TuplePositions(
      data: try context.input(0).shape, indices: try context.input(1).shape,
      batchAxes: try context.node.int("batch_dims", default: 0))
    guard !tuples.slicesShape.contains(0) else { return }
    let positions = try tuples.find(context, indices: 1)
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    let length = tuples.slice.elementCount
    positions.withUnsafeBufferPointer { positions in
      context.parallel(positions.count, cost: length) { range in
        for place in range {
          (y + place * length).update(from: x + positions[place], count: length)
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    let inputs = [builder.outputGradient, builder.shape(of: builder.input(0)), builder.input(1)]
    return [
      builder.add("GatherNDGradient", domain: graftDomain, inputs, builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "elements", inputs: [.random([3, 4]), .sample([0, 1, 2, -1, 0, 1] as [Int64], [3, 2])]),
      OperatorSample(
        "rows", inputs: [.random([3, 4]), .sample([2, 0, 2, -3] as [Int64], [2, 2, 1])]),
      OperatorSample(
        "batch", attributes: ["batch_dims": .int(1)],
        inputs: [.random([2, 3, 4]), .sample([1, 1, 0, -1] as [Int64], [2, 2, 1])]),
      OperatorSample(
        "batch of elements", attributes: ["batch_dims": .int(1)],
        inputs: [.random([2, 3, 4]), .sample([1, 1, 0, -1] as [Int64], [2, 2])]),
      OperatorSample(
        "two batch axes", attributes: ["batch_dims": .int(2)],
        inputs: [
          .random([2, 2, 3, 2]), .sample([0, 1, 2, 2, 1, 0, 0, 0] as [Int64], [2, 2, 2, 1]),
        ]),
      OperatorSample("one element", inputs: [.random([3]), .sample([1] as [Int64], [1])]),
      OperatorSample(
        "empty tuples", inputs: [.random([2]), .sample([] as [Int64], [3, 0])], skipsOracle: true),
      OperatorSample("nothing", inputs: [.random([2, 2]), .sample([] as [Int64], [0, 1])]),
      OperatorSample(
        "integers", inputs: [.sample([5, 6, 7] as [Int64]), .sample([2, 0] as [Int64], [2, 1])]),
      OperatorSample(
        "outside", inputs: [.random([3, 4]), .sample([0, 4] as [Int64], [1, 2])],
        error: "index 4 in input 1 is outside the 4 elements of axis 1"),
      OperatorSample(
        "long tuples", inputs: [.random([3]), .sample([0, 0] as [Int64], [1, 2])],
        error: "fix 2 axes"),
      OperatorSample(
        "other batch", attributes: ["batch_dims": .int(1)],
        inputs: [.random([2, 3]), .sample([0, 0, 0] as [Int64], [3, 1])],
        error: "differ in their 1 batch dimensions"),
    ]
  }
}
