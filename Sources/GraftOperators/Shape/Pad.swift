import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x with elements added before and after each axis, or taken away where a pad is negative.
///
/// Inputs: x, the pads (before each axis, then after each), the constant (optional, 0), the axes
/// that the pads are for (optional, all). Attribute `mode`: `constant`, `reflect` (about the edge
/// element), `edge` or `wrap`. Gradient: every element gets the sum over its copies; the constant
/// gets the sum over the padding. Source: ONNX Pad-21.
struct Pad: MovingOperator {
  let name = "Pad"
  let inputCount = 2...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    if context.has(2) {
      try context.requireSameType(0, 2)
      try context.requireSingle(2)
    }
    let geometry = try PadGeometry(
      input.shape, pads: try context.ints(1), axes: try context.intsIfPresent(3), context.node)
    return [TensorType(input.elementType, geometry.outputShape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    guard try !context.output(0).shape.contains(0) else { return }
    let sources = try context.kept(readingInputs: 1..<4) {
      PadSources(
        try PadGeometry(
          try context.input(0).shape, pads: try context.ints(1),
          axes: try context.intsIfPresent(3), context.node))
    }
    let constant = context.has(2) ? try context.inputUnits(2, as: unit)[0] : 0
    let x = try context.inputUnits(0, as: unit)
    let y = try context.outputUnits(0, as: unit)
    let (columns, starts, run) = (sources.columns, sources.rowStarts, sources.longestRun)
    let block = sources.block
    let length = columns.count * block
    context.parallel(starts.count, cost: length) { range in
      for row in range {
        let y = y + row * length
        let start = starts[row]
        guard start >= 0 else {
          y.update(repeating: constant, count: length)
          continue
        }
        let x = x + start
        Self.fill(y, from: x, columns, 0..<run.lowerBound, block, constant)
        if !run.isEmpty {
          (y + run.lowerBound * block).update(
            from: x + columns[run.lowerBound] * block, count: run.count * block)
        }
        Self.fill(y, from: x, columns, run.upperBound..<columns.count, block, constant)
      }
    }
  }

  /// Fills a part of a row block by block.
  @inline(__always)
  private static func fill<Unit>(
    _ y: UnsafeMutablePointer<Unit>, from x: UnsafePointer<Unit>, _ columns: [Int],
    _ part: Range<Int>, _ block: Int, _ constant: Unit
  ) {
    for column in part {
      let y = y + column * block
      let source = columns[column]
      if source < 0 {
        y.update(repeating: constant, count: block)
      } else {
        y.update(from: x + source * block, count: block)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let dx = builder.add(
      "PadGradient", domain: graftDomain,
      [dy, builder.shape(of: builder.input(0)), builder.input(1), builder.input(3)],
      builder.node.attributes)
    guard builder.wants(2) else { return [dx] }
    guard try builder.node.string("mode", default: "constant") == "constant" else {
      return [dx, nil, builder.zeroTensor(like: builder.input(2))]
    }
    let keep: [String: Attribute] = ["keepdims": .int(0)]
    let inside = builder.add("ReduceSum", [dx], keep)
    let outside = builder.add("Sub", [builder.add("ReduceSum", [dy], keep), inside])
    return [dx, nil, builder.reshape(outside, like: builder.input(2))]
  }

  var samples: [OperatorSample] {
    func mode(_ name: String) -> [String: Attribute] { ["mode": .string(name)] }
    return [
      OperatorSample(
        "zeros", inputs: [.random([2, 3]), .sample([1, 0, 2, 1] as [Int64])]),
      OperatorSample(
        "constant",
        inputs: [.random([3]), .sample([1, 2] as [Int64]), .sample([1.5] as [Float], [])]),
      OperatorSample(
        "picture", inputs: [.random([1, 2, 3, 3]), .sample([0, 0, 1, 1, 0, 0, 1, 1] as [Int64])]),
      OperatorSample(
        "axes",
        inputs: [
          .random([2, 3, 2]), .sample([2, 1] as [Int64]), nil, .sample([1] as [Int64]),
        ]),
      OperatorSample(
        "negative axes",
        inputs: [
          .random([2, 3, 2]), .sample([0, 1, 1, -1] as [Int64]), nil,
          .sample([-1, 0] as [Int32]),
        ]),
      OperatorSample("cropped", inputs: [.random([3, 4]), .sample([-1, 2, 0, -3] as [Int64])]),
      OperatorSample(
        "reflect", attributes: mode("reflect"),
        inputs: [.random([3, 4]), .sample([2, 1, 1, 3] as [Int64])]),
      OperatorSample(
        "reflect, cropped", attributes: mode("reflect"),
        inputs: [.random([4, 2]), .sample([-1, 0, 2, 0] as [Int64])]),
      OperatorSample(
        "reflect more than there is", attributes: mode("reflect"),
        inputs: [.random([3]), .sample([5, 4] as [Int64])], skipsOracle: true),
      OperatorSample(
        "edge", attributes: mode("edge"),
        inputs: [.random([2, 3]), .sample([1, 4, 2, 0] as [Int64])]),
      OperatorSample(
        "edge of channels", attributes: mode("edge"),
        inputs: [.random([2, 3, 2]), .sample([0, 2, 0, 0, 1, 0] as [Int64])]),
      OperatorSample(
        "wrap", attributes: mode("wrap"),
        inputs: [.random([2, 3]), .sample([1, 4, 0, 2] as [Int64])]),
      OperatorSample("empty", inputs: [.random([0, 2]), .sample([1, 0, 0, 0] as [Int64])]),
      OperatorSample("nothing", inputs: [.random([2, 2]), .sample([0, 0, 0, 0] as [Int64])]),
      OperatorSample("scalar", inputs: [.random([]), .sample([] as [Int64])], skipsOracle: true),
      OperatorSample(
        "integers",
        inputs: [
          .sample([1, 2] as [Int64]), .sample([1, 1] as [Int64]), .sample([7] as [Int64], []),
        ]),
      OperatorSample(
        "nothing to repeat", attributes: mode("edge"),
        inputs: [.random([0]), .sample([1, 0] as [Int64])], error: "axis 0 has no elements"),
      OperatorSample(
        "too few pads", inputs: [.random([2, 2]), .sample([1, 1] as [Int64])],
        error: "there are 2 pads; 2 axes need 4"),
      OperatorSample(
        "crops all", inputs: [.random([2]), .sample([-1, -2] as [Int64])],
        error: "take away more than the 2 elements"),
    ]
  }
}
