import GraftGraph
import GraftTensor

/// y = the dimensions of x from axis `start` (0) up to, but not including, axis `end` (the rank),
/// as int64.
///
/// Negative axes count from the end; both are clamped to the rank. Source: ONNX Shape-21.
struct ShapeOperator: Operator {
  let name = "Shape"
  let inputCount = 1...1
  let readsShapesOnly = true

  private static func dimensions(_ shape: Shape, _ node: Node) throws -> [Int] {
    func clamped(_ axis: Int) -> Int {
      min(max(axis < 0 ? axis + shape.rank : axis, 0), shape.rank)
    }
    let start = clamped(try node.int("start", default: 0))
    let end = clamped(try node.int("end", default: shape.rank))
    return start < end ? Array(shape.dimensions[start..<end]) : []
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let count = try Self.dimensions(try context.shape(0), context.node).count
    return [TensorType(.int64, [count])]
  }

  func run(_ context: KernelContext) throws {
    let y = try context.output(0, as: Int64.self)
    let dimensions = try Self.dimensions(try context.input(0).shape, context.node)
    for (index, size) in dimensions.enumerated() { y[index] = Int64(size) }
  }

  let differentiation = Differentiation.zero(because: "a shape does not change with the values")

  var samples: [OperatorSample] {
    [
      OperatorSample("all", inputs: [.random([2, 3, 4])]),
      OperatorSample("from 1", attributes: ["start": .int(1)], inputs: [.random([2, 3, 4])]),
      OperatorSample(
        "negative", attributes: ["start": .int(-2), "end": .int(-1)],
        inputs: [.random([2, 3, 4])]),
      OperatorSample(
        "clamped", attributes: ["start": .int(-9), "end": .int(9)], inputs: [.random([2, 3])]),
      OperatorSample(
        "nothing", attributes: ["start": .int(2), "end": .int(1)], inputs: [.random([2, 3])]),
      OperatorSample("scalar", inputs: [.random([])]),
      OperatorSample("bool", inputs: [.sample([true, false])]),
    ]
  }
}
