import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the sums of x along an axis from its start up to each element.
///
/// The axis is the one integer of input 1. Attributes: `exclusive` (0; 1: without the element itself),
/// `reverse` (0; 1: from the end). Sums are in the element type; integers wrap around. Gradient: the
/// sums of dy in the other direction. Source: ONNX CumSum-14.
struct CumSum: NumericOperator {
  let name = "CumSum"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    _ = try context.node.int("exclusive", default: 0)
    _ = try context.node.int("reverse", default: 0)
    _ = try context.shape(0).axis(try context.singleInt(1))
    return [try context.input(0)]
  }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let columns = try AxisColumns(try context.input(0).shape, axis: try context.singleInt(1))
    let isExclusive = try context.node.int("exclusive", default: 0) != 0
    let isReverse = try context.node.int("reverse", default: 0) != 0
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let (size, inner) = (columns.size, columns.inner)
    guard size > 0 else { return }
    let step = isReverse ? -inner : inner
    columns.run(context, cost: 2) { outer, range in
      let first = (outer * size + (isReverse ? size - 1 : 0)) * inner
      if inner == 1 {
        Self.sumLine(x + first, y + first, step, size, isExclusive)
      } else {
        let start = first + range.lowerBound
        Self.sumColumns(x + start, y + start, range.count, step, size, isExclusive)
      }
    }
  }

  @inline(__always)
  private static func sumLine<T: NumericElement>(
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>, _ step: Int, _ size: Int,
    _ isExclusive: Bool
  ) {
    var sum = T.zero
    for k in 0..<size {
      let next = T.wrappingSum(sum, x[k * step])
      y[k * step] = isExclusive ? sum : next
      sum = next
    }
  }

  /// The sums of `count` neighbouring columns, row by row.
  @inline(__always)
  private static func sumColumns<T: NumericElement>(
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>, _ count: Int, _ step: Int, _ size: Int,
    _ isExclusive: Bool
  ) {
    for i in 0..<count { y[i] = isExclusive ? T.zero : x[i] }
    for k in 1..<size {
      let before = y + (k - 1) * step
      let added = x + (isExclusive ? k - 1 : k) * step
      let here = y + k * step
      for i in 0..<count { here[i] = T.wrappingSum(before[i], added[i]) }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    var attributes = builder.node.attributes
    attributes["reverse"] = .int(try builder.node.int("reverse", default: 0) == 0 ? 1 : 0)
    return [builder.add("CumSum", [builder.outputGradient, builder.input(1)], attributes)]
  }

  var samples: [OperatorSample] {
    func axis(_ axis: Int64) -> Tensor? { .sample([axis], []) }
    return [
      OperatorSample("vector", inputs: [.random([6]), axis(0)]),
      OperatorSample("rows", inputs: [.random([4, 3]), axis(0)]),
      OperatorSample("last axis", inputs: [.random([4, 3]), axis(-1)]),
      OperatorSample(
        "exclusive", attributes: ["exclusive": .int(1)], inputs: [.random([2, 4, 3]), axis(1)]),
      OperatorSample(
        "reverse", attributes: ["reverse": .int(1)], inputs: [.random([2, 4]), axis(1)]),
      OperatorSample(
        "both", attributes: ["exclusive": .int(1), "reverse": .int(1)],
        inputs: [.random([5, 2]), axis(0)]),
      OperatorSample("integers", inputs: [.sample([1, 2, 3] as [Int64]), axis(0)]),
      OperatorSample(
        "int32", inputs: [.sample([1, 2, 3] as [Int32]), .sample([0] as [Int32], [])]),
      OperatorSample("empty", inputs: [.random([2, 0]), axis(1)]),
      OperatorSample(
        "no such axis", inputs: [.random([2]), axis(1)], error: "axis 1 is outside"),
    ]
  }
}
