import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the slices of x along `axis` whose flag in input 1, a bool vector, is set; without `axis`, the
/// elements of x as a vector.
///
/// A condition shorter than the axis drops the rest. Gradient: zeros with dy at what was kept.
/// Source: ONNX Compress-11.
struct Compress: MovingOperator {
  let name = "Compress"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(1, [.bool])
    try context.requireRank(1, 1...1)
    let input = try context.input(0)
    let columns = try TrueFlags.columns(input.shape, context.node)
    let kept = try TrueFlags(try context.value(1), of: columns.size).positions.count
    let shape = try TrueFlags.shape(input.shape, context.node, kept: kept)
    return [TensorType(input.elementType, shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let columns = try TrueFlags.columns(try context.input(0).shape, context.node)
    guard try context.output(0).elementCount > 0 else { return }
    let positions = try TrueFlags(try context.input(1), of: columns.size).positions
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    let (count, length) = (positions.count, columns.inner)
    context.parallel(columns.outer * count, cost: length) { range in
      for row in range {
        let source = row / count * columns.size + positions[row % count]
        (y + row * length).update(from: x + source * length, count: length)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    let inputs = [builder.outputGradient, builder.shape(of: builder.input(0)), builder.input(1)]
    return [
      builder.add("CompressGradient", domain: graftDomain, inputs, builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "rows", attributes: ["axis": .int(0)],
        inputs: [.random([3, 2]), .sample([false, true, true])]),
      OperatorSample(
        "columns", attributes: ["axis": .int(-1)],
        inputs: [.random([3, 4]), .sample([true, false, true, false])]),
      OperatorSample("elements", inputs: [.random([2, 3]), .sample([true, false, false, true])]),
      OperatorSample(
        "nothing", attributes: ["axis": .int(0)], inputs: [.random([2, 2]), .sample([false])]),
      OperatorSample(
        "flags to spare", attributes: ["axis": .int(0)],
        inputs: [.random([2, 2]), .sample([true, false, true])]),
      OperatorSample(
        "bytes", inputs: [.sample([1, 2, 3] as [UInt8]), .sample([false, true, true])]),
      OperatorSample(
        "integers as flags", inputs: [.random([2]), .sample([1, 0] as [Int64])],
        error: "input 1 is int64; it must be bool"),
    ]
  }
}
