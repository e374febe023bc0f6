import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The outputs are consecutive parts of x along `axis` (0).
///
/// Their sizes are in input 1, or they are equal and the last takes what is left: `num_outputs`
/// parts, by default as many as the node has outputs. Gradient: the outputs' gradients put together
/// again. Source: ONNX Split-18.
struct Split: MovingOperator {
  let name = "Split"
  let inputCount = 1...2
  let outputCount = 1...Int.max

  /// The parts' sizes along an axis of `size` elements.
  static func sizes(listed: [Int]?, count: Int, of size: Int) throws -> [Int] {
    if let listed {
      let total = try listed.reduce(0) { try sumOfSizes($0, $1) }
      guard total == size, listed.allSatisfy({ $0 >= 0 }) else {
        throw GraftError(
          .shapeMismatch, "the parts \(listed) do not make up an axis of \(size) elements")
      }
      return listed
    }
    let part = count > 0 ? size / count + (size % count == 0 ? 0 : 1) : 0
    let (before, overflow) = part.multipliedReportingOverflow(by: max(count, 1) - 1)
    guard count > 0, !overflow, before <= size else {
      throw GraftError(
        .shapeMismatch, "an axis of \(size) elements cannot be split into \(count) parts")
    }
    return Array(repeating: part, count: count - 1) + [size - before]
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let axis = try input.shape.axis(try context.node.int("axis", default: 0))
    let count = try context.node.int("num_outputs", default: context.node.outputs.count)
    guard context.has(1) || count <= max(1, context.node.outputs.count) else {
      throw GraftError(
        .damaged, "num_outputs is \(count), but there are \(context.node.outputs.count) outputs")
    }
    let sizes = try Self.sizes(
      listed: try context.intsIfPresent(1), count: count, of: input.shape[axis])
    guard sizes.count >= context.node.outputs.count else {
      throw GraftError(
        .damaged,
        "there are \(context.node.outputs.count) outputs for \(sizes.count) parts")
    }
    return sizes.map { size in
      var shape = input.shape
      shape[axis] = size
      return TensorType(input.elementType, shape)
    }
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let input = try context.input(0)
    guard input.elementCount > 0 else { return }
    let whole = try AxisColumns(input.shape, axis: try context.node.int("axis", default: 0))
    let count = try context.node.int("num_outputs", default: context.node.outputs.count)
    let sizes = try context.kept(readingInputs: 1..<2) {
      try Self.sizes(listed: try context.intsIfPresent(1), count: count, of: whole.size)
    }
    var x = try context.inputUnits(0, as: unit)
    for (index, size) in sizes.enumerated() {
      let length = size * whole.inner
      if context.wantsOutput(index) {
        let copy = RowCopy(
          rows: whole.outer, length: length, sourceStride: whole.size * whole.inner,
          targetStride: length)
        copy.run(context, from: x, to: try context.outputUnits(index, as: unit))
      }
      x += length
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil, nil] }
    var attributes = builder.node.attributes
    attributes["num_outputs"] = .int(
      try builder.node.int("num_outputs", default: builder.node.outputs.count))
    let gradients = builder.outputGradients.map { $0 ?? "" }
    let inputs = [builder.shape(of: builder.input(0)), builder.input(1)] + gradients
    return [builder.add("SplitGradient", domain: graftDomain, inputs, attributes), nil]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "equal parts", attributes: ["num_outputs": .int(2)], inputs: [.random([4, 3])],
        outputCount: 2),
      OperatorSample(
        "smaller last", attributes: ["axis": .int(1), "num_outputs": .int(3)],
        inputs: [.random([2, 7, 2])], outputCount: 3),
      OperatorSample(
        "listed", attributes: ["axis": .int(-1)],
        inputs: [.random([2, 6]), .sample([1, 0, 5] as [Int64])], outputCount: 3),
      OperatorSample(
        "one gradient missing", attributes: ["axis": .int(1)],
        inputs: [.random([2, 6]), .sample([1, 2, 3] as [Int64])], outputCount: 3,
        differentiableOutputs: [0, 2]),
      OperatorSample(
        "one part", attributes: ["num_outputs": .int(1)], inputs: [.random([3])]),
      OperatorSample(
        "empty", attributes: ["axis": .int(1), "num_outputs": .int(2)],
        inputs: [.random([0, 4])], outputCount: 2),
      OperatorSample(
        "integers", attributes: ["num_outputs": .int(2)],
        inputs: [.sample([1, 2, 3, 4] as [Int64])], outputCount: 2),
      OperatorSample(
        "misfit", inputs: [.random([4]), .sample([1, 2] as [Int64])], outputCount: 2,
        error: "the parts [1, 2] do not make up an axis of 4 elements"),
      OperatorSample(
        "too many", attributes: ["num_outputs": .int(5)], inputs: [.random([3])], outputCount: 5,
        error: "3 elements cannot be split into 5 parts"),
    ]
  }
}
