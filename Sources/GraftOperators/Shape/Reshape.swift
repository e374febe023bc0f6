import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x with the dimensions that input 1, an integer vector, holds.
///
/// A 0 keeps the input's dimension at that place, or means an empty axis when `allowzero` (0) is 1;
/// one dimension may be -1 and takes what is left. Source: ONNX Reshape-21.
struct Reshape: ReshapingOperator {
  let name = "Reshape"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    try context.requireRank(1, 1...1)
    let keepsZeros = try context.node.int("allowzero", default: 0) != 0
    let shape = try Self.shape(of: input.shape, wanted: try context.ints(1), keepsZeros)
    return [TensorType(input.elementType, shape)]
  }

  private static func shape(of input: Shape, wanted: [Int], _ keepsZeros: Bool) throws -> Shape {
    var dimensions = wanted
    if !keepsZeros {
      for (axis, size) in wanted.enumerated() where size == 0 {
        guard axis < input.rank else {
          throw GraftError(
            .shapeMismatch,
            "dimension \(axis) of \(wanted) keeps one that the input of shape \(input) lacks")
        }
        dimensions[axis] = input[axis]
      }
    }
    let count = try input.checkedElementCount()
    if let open = dimensions.firstIndex(of: -1) {
      dimensions[open] = 1
      let known = try Shape(dimensions).checkedElementCount()
      // Checked as a whole below: an impossible rest leaves a different number of elements.
      dimensions[open] = known == 0 ? 0 : count / known
    }
    let shape = Shape(dimensions)
    guard try shape.checkedElementCount() == count else {
      throw GraftError(
        .shapeMismatch, "\(count) elements of shape \(input) cannot take the dimensions \(wanted)")
    }
    return shape
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("plain", inputs: [.random([2, 6]), .sample([3, 4] as [Int64])]),
      OperatorSample("open", inputs: [.random([2, 6]), .sample([3, -1] as [Int64])]),
      OperatorSample("kept", inputs: [.random([2, 6]), .sample([0, 3, -1] as [Int64])]),
      OperatorSample("to a scalar", inputs: [.random([1, 1]), .sample([] as [Int64])]),
      OperatorSample("from a scalar", inputs: [.random([]), .sample([1, -1] as [Int64])]),
      OperatorSample(
        "empty axis", attributes: ["allowzero": .int(1)],
        inputs: [.random([0, 4]), .sample([2, 0] as [Int64])]),
      OperatorSample("kept empty", inputs: [.random([3, 0]), .sample([0, 0, 7] as [Int64])]),
      OperatorSample(
        "bool", inputs: [.sample([true, false, true, true]), .sample([2, 2] as [Int64])]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .sample([4, -1] as [Int64])],
        error: "6 elements of shape [2, 3] cannot take the dimensions [4, -1]"),
      OperatorSample(
        "two open", inputs: [.random([2, 3]), .sample([-1, -1] as [Int64])],
        error: "cannot have the shape"),
      OperatorSample(
        "keeps too much", inputs: [.random([6]), .sample([6, 0] as [Int64])],
        error: "dimension 1 of [6, 0] keeps one"),
    ]
  }
}
