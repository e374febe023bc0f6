import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = min(max(x, min), max); NaN stays NaN.
///
/// Inputs: x, and optionally the scalars `min` and `max` of its type; the lowest and highest value
/// without them. Where min > max, y is max. Gradient: dx = dy where min <= x <= max, else 0; none
/// for min and max. Source: ONNX Clip-13.
struct Clip: NumericOperator, BlockOperator {
  let name = "Clip"
  let inputCount = 1...3
  let isElementwise = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    try Self.checkBounds(context, 1...2, like: 0)
    return [try context.input(0)]
  }

  /// Checks that optional inputs are scalars of the type of input `index`.
  static func checkBounds(_ context: TypeContext, _ bounds: ClosedRange<Int>, like index: Int)
    throws
  {
    for bound in bounds where context.has(bound) {
      try context.requireSameType(index, bound)
      let shape = try context.shape(bound)
      guard shape.elementCount == 1 else {
        throw GraftError(
          .shapeMismatch, "input \(bound) has shape \(shape); a bound must be a scalar")
      }
    }
  }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let lowest = try context.inputIfPresent(1, as: type)?.pointee ?? T.lowest
    let highest = try context.inputIfPresent(2, as: type)?.pointee ?? T.highest
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = Self.clip(x[i], lowest, highest) }
    }
  }

  @inline(__always)
  private static func clip<T: NumericElement>(_ x: T, _ lowest: T, _ highest: T) -> T {
    let raised = x < lowest ? lowest : x
    return raised > highest ? highest : raised
  }

  func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    func bound(_ index: Int, without: Float) -> Float? {
      guard index < inputs.count, let bound = inputs[index] else { return without }
      return bound.constant.flatMap { try? $0.values(as: Float.self).first }
    }
    guard position == 0, let lowest = bound(1, without: Float.lowest),
      let highest = bound(2, without: Float.highest)
    else { return nil }
    return BlockFunction(
      cost: 1,
      .alone { x, y, count in
        for i in 0..<count { y[i] = Self.clip(x[i], lowest, highest) }
      })
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [] }
    let inputs = [builder.outputGradient] + builder.node.inputs
    return [builder.add("ClipGradient", domain: graftDomain, inputs)]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "both bounds",
        inputs: [
          .random([3, 5], scale: 2), .sample([-1] as [Float], []), .sample([1.5] as [Float], []),
        ],
        differentiableInputs: [0]),
      OperatorSample(
        "lower bound", inputs: [.random([7]), .sample([-0.5] as [Float], [])],
        differentiableInputs: [0]),
      OperatorSample(
        "upper bound", inputs: [.random([7]), nil, .sample([0.5] as [Float], [])],
        differentiableInputs: [0]),
      OperatorSample("no bounds", inputs: [.random([7])]),
      OperatorSample(
        "crossed bounds",
        inputs: [.random([7]), .sample([2] as [Float], []), .sample([1] as [Float], [])],
        differentiableInputs: [0]),
      OperatorSample(
        "float64",
        inputs: [.sample([-3, 3] as [Double]), .sample([-1.0], []), .sample([1.0], [])],
        differentiableInputs: [0]),
      OperatorSample(
        "int64", inputs: [.sample([-9, 0, 9] as [Int64]), .sample([-4] as [Int64], [])]),
      OperatorSample(
        "int32", inputs: [.sample([-9, 0, 9] as [Int32]), nil, .sample([4] as [Int32], [])]),
      OperatorSample(
        "int8", inputs: [.sample([-9, 0, 9] as [Int8]), .sample([-4] as [Int8], [])]),
      OperatorSample(
        "uint8", inputs: [.sample([0, 200] as [UInt8]), nil, .sample([99] as [UInt8], [])]),
      OperatorSample(
        "vector of bounds", inputs: [.random([2]), .random([2])],
        error: "a bound must be a scalar"),
    ]
  }
}
