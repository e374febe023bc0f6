import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x without some axes of size 1: those that input 1 lists, or all of them.
///
/// Source: ONNX Squeeze-21.
struct Squeeze: ReshapingOperator {
  let name = "Squeeze"
  let inputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let shape = input.shape
    guard let listed = try context.intsIfPresent(1) else {
      return [TensorType(input.elementType, Shape(shape.filter { $0 != 1 }))]
    }
    let axes = Set(try listed.map { try shape.axis($0) })
    for axis in axes.sorted() where shape[axis] != 1 {
      throw GraftError(
        .shapeMismatch, "axis \(axis) of shape \(shape) has \(shape[axis]) elements, not 1")
    }
    let kept = shape.indices.filter { !axes.contains($0) }.map { shape[$0] }
    return [TensorType(input.elementType, Shape(kept))]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("all", inputs: [.random([1, 3, 1, 2])]),
      OperatorSample("one", inputs: [.random([1, 3, 1]), .sample([-1] as [Int64])]),
      OperatorSample("two", inputs: [.random([1, 3, 1]), .sample([0, 2] as [Int64])]),
      OperatorSample("to a scalar", inputs: [.random([1])]),
      OperatorSample(
        "integers", inputs: [.sample([4, 5] as [Int32], [2, 1]), .sample([1] as [Int64])]),
      OperatorSample(
        "too large", inputs: [.random([2, 1]), .sample([0] as [Int64])],
        error: "axis 0 of shape [2, 1] has 2 elements, not 1"),
    ]
  }
}
