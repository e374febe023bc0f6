import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the slices of x along `axis` (0) that an int64 or int32 input of any shape names.
///
/// Shapes: x [A..., n, B...], indices [I...] -> y [A..., I..., B...]. Negative indices count from
/// the end; one outside the axis is an error. Gradient: dx[i] = the sum of dy over all places that
/// named i. Source: ONNX Gather-13.
struct Gather: MovingOperator {
  let name = "Gather"
  let inputCount = 2...2

  /// The output's shape.
  static func shape(_ data: Shape, _ indices: Shape, _ node: Node) throws -> Shape {
    let axis = try data.axis(try node.int("axis", default: 0))
    return Shape(Array(data.prefix(axis)) + indices.dimensions + Array(data.dropFirst(axis + 1)))
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let data = try context.input(0)
    try context.require(1, ElementType.integers)
    let shape = try Self.shape(data.shape, try context.shape(1), context.node)
    return [TensorType(data.elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    let columns = try AxisColumns(shape, axis: axis)
    let isEmpty = try context.output(0).elementCount == 0
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    let length = columns.inner
    try context.withIndices(1, along: axis, of: columns.size) { indices in
      guard !isEmpty else { return }
      let count = indices.count
      context.parallel(columns.outer * count, cost: length) { range in
        for row in range {
          let block = row / count
          let source = x + (block * columns.size + indices[row - block * count]) * length
          if length == 1 {
            y[row] = source[0]
          } else {
            (y + row * length).update(from: source, count: length)
          }
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    let inputs = [builder.outputGradient, builder.shape(of: builder.input(0)), builder.input(1)]
    return [
      builder.add("GatherGradient", domain: graftDomain, inputs, builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "embedding", inputs: [.random([5, 4]), .sample([0, 4, 4, -1, 2, 0] as [Int64], [2, 3])]),
      OperatorSample(
        "middle axis", attributes: ["axis": .int(1)],
        inputs: [.random([2, 3, 4]), .sample([2, 0, 2] as [Int32])]),
      OperatorSample(
        "last axis", attributes: ["axis": .int(-1)],
        inputs: [.random([3, 4]), .sample([1, -4] as [Int64])]),
      OperatorSample(
        "scalar index", attributes: ["axis": .int(1)],
        inputs: [.random([2, 3]), .sample([-1] as [Int64], [])]),
      OperatorSample("no indices", inputs: [.random([2, 3]), .sample([] as [Int64])]),
      OperatorSample(
        "bytes", inputs: [.sample([5, 6, 7] as [UInt8]), .sample([2, 0] as [Int64])]),
      OperatorSample(
        "integers", inputs: [.sample([5, 6, 7] as [Int64]), .sample([2] as [Int64], [])]),
      OperatorSample(
        "outside", inputs: [.random([3, 2]), .sample([0, 3] as [Int64])],
        error: "index 3 in input 1 is outside the 3 elements of axis 0"),
      OperatorSample(
        "far outside", inputs: [.random([3, 2]), .sample([.min] as [Int64])],
        error: "is outside the 3 elements"),
      OperatorSample(
        "float indices", inputs: [.random([3, 2]), .random([1])], error: "input 1 is float32"),
      OperatorSample(
        "scalar", inputs: [.random([]), .sample([0] as [Int64])], error: "axis 0 is outside"),
    ]
  }
}
