import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x, where each update replaces, or is joined with, the element at its own place, but with the
/// index found there along `axis` (0).
///
/// Inputs: x, indices (int64 or int32), updates of the indices' shape; that has x's rank and is
/// nowhere larger than x but along the axis. Attribute `reduction`: `none`, `add`, `mul`, `min` or
/// `max`. Of several updates for an element each is joined in turn. Negative indices count from the
/// end; one outside is an error. Gradients, for `none` (with no element named twice) and `add`:
/// d updates = dy gathered at the indices; dx = dy, for `none` with zeros at the indices.
/// Source: ONNX ScatterElements-18.
struct ScatterElements: ScatteringOperator {
  let name = "ScatterElements"

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try checkTypes(context)
    let data = try context.input(0)
    let axis = try data.shape.axis(try context.node.int("axis", default: 0))
    try ElementPositions.check(data.shape, try context.shape(1), axis: axis)
    try context.requireShape(2, try context.shape(1))
    return [data]
  }

  @inline(__always)
  func scatter<T>(_ type: T.Type, _ context: KernelContext, _ join: (T, T) -> T) throws {
    let shape = try context.input(0).shape
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    let updates = try context.inputUnits(2, as: type)
    let y = try context.outputUnits(0, as: type)
    let columns = try AxisColumns(try context.input(1).shape, axis: axis)
    try ElementPositions.find(context, data: shape, indices: 1, axis: axis) { positions in
      columns.run(context, cost: 2) { outer, range in
        for k in 0..<columns.size {
          let row = (outer * columns.size + k) * columns.inner
          for i in row + range.lowerBound..<row + range.upperBound {
            y[positions[i]] = join(y[positions[i]], updates[i])
          }
        }
      }
    }
  }

  var differentiation: Differentiation { scatterRule(gather: "GatherElements") }

  var samples: [OperatorSample] {
    func reduction(_ name: String, axis: Int = 0) -> [String: Attribute] {
      ["reduction": .string(name), "axis": .int(axis)]
    }
    let rows = Tensor.sample([0, 2, 1, -2, 0, 0] as [Int64], [2, 3])
    return [
      OperatorSample("replace", inputs: [.random([3, 3]), rows, .random([2, 3])]),
      OperatorSample(
        "columns", attributes: ["axis": .int(1)],
        inputs: [.random([1, 5]), .sample([1, -2] as [Int32], [1, 2]), .random([1, 2])]),
      OperatorSample(
        "smaller", attributes: ["axis": .int(1)],
        inputs: [
          .random([2, 4, 3]), .sample([3, 0, 1, 2] as [Int64], [1, 2, 2]), .random([1, 2, 2]),
        ]),
      OperatorSample(
        "add", attributes: reduction("add"),
        inputs: [
          .random([3, 2]), .sample([0, 1, 0, 1, 2, 1] as [Int64], [3, 2]),
          .random([3, 2], seed: 1),
        ]),
      OperatorSample(
        "add along the last axis", attributes: reduction("add", axis: -1),
        inputs: [
          .random([2, 3]), .sample([0, 0, 0, 2, 1, 2, 2, 2] as [Int64], [2, 4]), .random([2, 4]),
        ]),
      OperatorSample(
        "multiply", attributes: reduction("mul"),
        inputs: [.random([3, 3]), rows, .random([2, 3])], differentiableInputs: []),
      OperatorSample(
        "smallest", attributes: reduction("min"),
        inputs: [.random([3, 3]), rows, .random([2, 3])], differentiableInputs: []),
      OperatorSample(
        "largest", attributes: reduction("max"),
        inputs: [
          .sample([1, 2, 3] as [Int64]), .sample([0, 0, 2] as [Int64]),
          .sample([5, 4, -1] as [Int64]),
        ]),
      OperatorSample(
        "nothing", inputs: [.random([2]), .sample([] as [Int64]), .sample([] as [Float])]),
      OperatorSample(
        "bool", inputs: [.sample([true, true]), .sample([1] as [Int64]), .sample([false])]),
      OperatorSample(
        "outside", inputs: [.random([2]), .sample([2] as [Int64]), .random([1])],
        error: "index 2 in input 1 is outside the 2 elements of axis 0"),
      OperatorSample(
        "updates misfit", inputs: [.random([2]), .sample([1] as [Int64]), .random([2])],
        error: "input 2 has shape [2]; it must be [1]"),
      OperatorSample(
        "no such reduction", attributes: reduction("mean"),
        inputs: [.random([2]), .sample([1] as [Int64]), .random([1])],
        error: "reduction is 'mean'"),
    ]
  }
}
