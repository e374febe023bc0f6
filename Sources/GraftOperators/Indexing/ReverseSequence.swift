import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x with the first `length` steps of every sequence in reverse order, the others as they are.
///
/// x [T, B, ...] for `time_axis` 0 and `batch_axis` 1 (the defaults), or [B, T, ...] the other way
/// round; the lengths, int64 [B], are from 0 to T. Gradient: the same reversal.
/// Source: ONNX ReverseSequence-10.
struct ReverseSequence: MovingOperator {
  let name = "ReverseSequence"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.requireRank(0, 2...Int.max)
    try context.require(1, ElementType.integers)
    let batchAxis = try context.node.int("batch_axis", default: 1)
    let timeAxis = try context.node.int("time_axis", default: 0)
    guard Set([batchAxis, timeAxis]) == [0, 1] else {
      throw GraftError(
        .damaged, "batch_axis is \(batchAxis) and time_axis \(timeAxis); they must be 0 and 1")
    }
    try context.requireShape(1, [try context.shape(0)[batchAxis]])
    return [try context.input(0)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let timeAxis = try context.node.int("time_axis", default: 0)
    let (steps, batch) = (shape[timeAxis], shape[1 - timeAxis])
    let lengths = try context.kept(readingInputs: 1..<2) { try context.ints(1) }
    if let wrong = lengths.first(where: { $0 < 0 || $0 > steps }) {
      throw GraftError(
        .badData, "a sequence has length \(wrong); it must be from 0 to \(steps)")
    }
    let inner = shape.elementCount(in: 2..<shape.rank)
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    context.parallel(steps &* batch, cost: inner) { range in
      for row in range {
        let (step, sequence) =
          timeAxis == 0 ? (row / batch, row % batch) : (row % steps, row / steps)
        let length = lengths[sequence]
        let source = step < length ? length - 1 - step : step
        let from = timeAxis == 0 ? source * batch + sequence : sequence * steps + source
        (y + row * inner).update(from: x + from * inner, count: inner)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    return [
      builder.add(
        "ReverseSequence", [builder.outputGradient, builder.input(1)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    let batchFirst: [String: Attribute] = ["time_axis": .int(1), "batch_axis": .int(0)]
    return [
      OperatorSample("time first", inputs: [.random([4, 3]), .sample([4, 1, 3] as [Int64])]),
      OperatorSample(
        "batch first", attributes: batchFirst,
        inputs: [.random([2, 4, 3]), .sample([2, 0] as [Int64])]),
      OperatorSample(
        "bytes", inputs: [.sample([1, 2, 3] as [UInt8], [3, 1]), .sample([2] as [Int64])]),
      OperatorSample(
        "too long", inputs: [.random([4, 2]), .sample([4, 5] as [Int64])],
        error: "a sequence has length 5; it must be from 0 to 4"),
      OperatorSample(
        "wrong count", inputs: [.random([4, 2]), .sample([4] as [Int64])],
        error: "input 1 has shape [1]; it must be [2]"),
      OperatorSample(
        "one axis", attributes: ["time_axis": .int(1)],
        inputs: [.random([2, 2]), .sample([1, 1] as [Int64])], error: "they must be 0 and 1"),
    ]
  }
}
