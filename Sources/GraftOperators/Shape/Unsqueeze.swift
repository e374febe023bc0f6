import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x with axes of size 1 put in, so that they are at the places of the output that input 1
/// lists.
///
/// Source: ONNX Unsqueeze-21.
struct Unsqueeze: ReshapingOperator {
  let name = "Unsqueeze"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let listed = try context.ints(1)
    let rank = try sumOfSizes(input.shape.rank, listed.count)
    var axes: Set<Int> = []
    for axis in listed {
      guard axis >= -rank, axis < rank else {
        throw GraftError(
          .invalidArgument, "axis \(axis) is outside the \(rank) dimensions of the output")
      }
      guard axes.insert(axis < 0 ? axis + rank : axis).inserted else {
        throw GraftError(.damaged, "the axes \(listed) name one of the output twice")
      }
    }
    var rest = input.shape.makeIterator()
    let dimensions = (0..<rank).map { axes.contains($0) ? 1 : rest.next() ?? 1 }
    return [TensorType(input.elementType, Shape(dimensions))]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("front", inputs: [.random([2, 3]), .sample([0] as [Int64])]),
      OperatorSample("both ends", inputs: [.random([2, 3]), .sample([-1, 0] as [Int64])]),
      OperatorSample("middle", inputs: [.random([2, 3]), .sample([1, 2] as [Int64])]),
      OperatorSample("scalar", inputs: [.random([]), .sample([0] as [Int64])]),
      OperatorSample("bool", inputs: [.sample([true, false]), .sample([1] as [Int64])]),
      OperatorSample(
        "twice", inputs: [.random([2]), .sample([0, -3] as [Int64])], error: "twice"),
      OperatorSample(
        "outside", inputs: [.random([2]), .sample([2] as [Int64])],
        error: "axis 2 is outside the 2 dimensions"),
    ]
  }
}
