import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x, where updates replace, or are joined with, the slices that tuples of indices name.
///
/// Shapes: x [D1, ..., Dq, S...], indices [I..., q], updates [I..., S...]. Attribute `reduction`:
/// `none`, `add`, `mul`, `min` or `max`. Of several updates for a slice each is joined in turn.
/// Negative indices count from the end; one outside its axis is an error. Gradients, for `none` (with
/// no slice named twice) and `add`: d updates = dy gathered at the indices; dx = dy, for `none` with
/// zeros at the indices. Source: ONNX ScatterND-18.
struct ScatterND: ScatteringOperator {
  let name = "ScatterND"

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try checkTypes(context)
    let data = try context.input(0)
    let tuples = try TuplePositions(
      data: data.shape, indices: try context.shape(1), batchAxes: 0)
    try context.requireShape(2, tuples.slicesShape)
    return [data]
  }

  @inline(__always)
  func scatter<T>(_ type: T.Type, _ context: KernelContext, _ join: (T, T) -> T) throws {
    let tuples = try TuplePositions(
      data: try context.input(0).shape, indices: try context.input(1).shape, batchAxes: 0)
    guard !tuples.slicesShape.contains(0) else { return }
    let positions = try tuples.find(context, indices: 1)
    ScatteredSlices(positions: positions, length: tuples.slice.elementCount).run(
      context, try context.inputUnits(2, as: type), try context.outputUnits(0, as: type), join)
  }

  var differentiation: Differentiation { scatterRule(gather: "GatherND") }

  var samples: [OperatorSample] {
    func reduction(_ name: String) -> [String: Attribute] { ["reduction": .string(name)] }
    let twice = Tensor.sample([0, 2, 0] as [Int64], [3, 1])
    return [
      OperatorSample(
        "rows", inputs: [.random([4, 3]), .sample([2, -4] as [Int64], [2, 1]), .random([2, 3])]),
      OperatorSample(
        "elements",
        inputs: [.random([3, 3]), .sample([0, 1, 2, -1] as [Int64], [2, 2]), .random([2])]),
      OperatorSample(
        "places in a matrix",
        inputs: [
          .random([4, 2]), .sample([3, 0, 1, 2] as [Int64], [2, 2, 1]), .random([2, 2, 2]),
        ]),
      OperatorSample(
        "add", attributes: reduction("add"),
        inputs: [.random([3, 2]), twice, .random([3, 2], seed: 1)]),
      OperatorSample(
        "multiply", attributes: reduction("mul"),
        inputs: [.random([3, 2]), twice, .random([3, 2], seed: 1)], differentiableInputs: []),
      OperatorSample(
        "smallest", attributes: reduction("min"),
        inputs: [.random([3, 2]), twice, .random([3, 2], seed: 1)], differentiableInputs: []),
      OperatorSample(
        "largest", attributes: reduction("max"),
        inputs: [.sample([1, 2, 3] as [Int32]), twice, .sample([5, 4, -1] as [Int32])]),
      OperatorSample(
        "nothing", inputs: [.random([2, 2]), .sample([] as [Int64], [0, 1]), .random([0, 2])]),
      OperatorSample(
        "bool",
        inputs: [.sample([true, true]), .sample([1] as [Int64], [1, 1]), .sample([false])]),
      OperatorSample(
        "outside",
        inputs: [.random([2, 2]), .sample([0, -3] as [Int64], [1, 2]), .random([1])],
        error: "index -3 in input 1 is outside the 2 elements of axis 1"),
      OperatorSample(
        "updates misfit",
        inputs: [.random([2, 2]), .sample([0] as [Int64], [1, 1]), .random([1])],
        error: "input 2 has shape [1]; it must be [1, 2]"),
    ]
  }
}
