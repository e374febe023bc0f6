import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x repeated along each axis as often as input 1, a vector with one integer per axis, says.
///
/// Gradient: the sum over the repetitions. Source: ONNX Tile-13.
struct Tile: MovingOperator {
  let name = "Tile"
  let inputCount = 2...2

  /// The output's shape.
  static func shape(_ input: Shape, repeats: [Int]) throws -> Shape {
    guard repeats.count == input.rank else {
      throw GraftError(
        .shapeMismatch,
        "there are \(repeats.count) repeats for the \(input.rank) axes of shape \(input)")
    }
    return Shape(
      try zip(input, repeats).map { size, count in
        guard count >= 0 else {
          throw GraftError(.damaged, "an axis cannot be repeated \(count) times")
        }
        return try productOfSizes(size, count)
      })
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    try context.requireRank(1, 1...1)
    let shape = try Self.shape(input.shape, repeats: try context.ints(1))
    return [TensorType(input.elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept(readingInputs: 1..<2) {
      let input = try context.input(0).shape
      // Each axis becomes two: the repetitions, which stand still in the input, and the axis itself.
      let shape = Shape(zip(try context.ints(1), input).flatMap { [$0, $1] })
      return StridedCopy(shape, input.strides.flatMap { [0, $0] })
    }
    copy
      .run(
        context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit)
      )
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil, nil] }
    let inputs = [builder.outputGradient, builder.shape(of: builder.input(0)), builder.input(1)]
    return [builder.add("TileGradient", domain: graftDomain, inputs), nil]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("both axes", inputs: [.random([2, 3]), .sample([2, 3] as [Int64])]),
      OperatorSample("outer", inputs: [.random([2, 3, 2]), .sample([4, 1, 1] as [Int64])]),
      OperatorSample("inner", inputs: [.random([3, 1]), .sample([1, 5] as [Int64])]),
      OperatorSample("middle", inputs: [.random([2, 3, 4]), .sample([1, 2, 1] as [Int64])]),
      OperatorSample("vector", inputs: [.random([3]), .sample([3] as [Int64])]),
      OperatorSample("scalar", inputs: [.random([]), .sample([] as [Int64])]),
      OperatorSample("never", inputs: [.random([2, 3]), .sample([1, 0] as [Int64])]),
      OperatorSample("bool", inputs: [.sample([true, false]), .sample([2] as [Int64])]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .sample([2] as [Int64])],
        error: "1 repeats for the 2 axes"),
    ]
  }
}
