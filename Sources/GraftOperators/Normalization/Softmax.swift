import GraftGraph
import GraftTensor

/// y = exp(x - max) / sum(exp(x - max)) along one axis.
///
/// Attribute `axis`: -1. The maximum is subtracted, so nothing overflows; sums are pairwise in the
/// element type. A NaN makes its whole line NaN, and so does a line of minus infinity only.
/// Gradient: dx = y * (dy - sum(dy * y)). Source: ONNX Softmax-13.
struct Softmax: FloatingOperator {
  let name = "Softmax"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try context.shape(0).axis(try context.node.int("axis", default: -1))
    return [try context.input(0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 0)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(2 * geometry.outputCount, of: type) { largest in
      let sums = largest + geometry.outputCount
      let largestReducer = LargestReducer(x: x)
      let sumReducer = SumReducer(x: UnsafePointer(y))
      geometry.forEachTile(context, of: type, cost: 16) { tile, scratch in
        geometry.reduce(tile, largestReducer, scratch, into: largest)
        geometry.forEachElement(of: tile) {
          largest[$0]
        } apply: { i, largest in
          y[i] = .vectorExp(x[i] - largest)
        }
        geometry.reduce(tile, sumReducer, scratch, into: sums)
        for line in tile.outputs { sums[line] = 1 / sums[line] }
        geometry.forEachElement(of: tile) {
          sums[$0]
        } apply: { i, factor in
          y[i] *= factor
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "SoftmaxGradient", domain: graftDomain, [builder.outputGradient, builder.output(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] { Self.samples }

  /// Also those of LogSoftmax.
  static var samples: [OperatorSample] {
    [
      OperatorSample("last axis", inputs: [.random([3, 5])]),
      OperatorSample("middle axis", attributes: ["axis": .int(1)], inputs: [.random([2, 4, 3])]),
      OperatorSample("first axis", attributes: ["axis": .int(0)], inputs: [.random([7, 3])]),
      OperatorSample("long rows", inputs: [.random([2, 301])]),
      OperatorSample("many columns", attributes: ["axis": .int(-2)], inputs: [.random([5, 131])]),
      OperatorSample("rows of one", inputs: [.random([3, 1])]),
      OperatorSample("empty rows", inputs: [.random([2, 0])]),
      OperatorSample("no rows", inputs: [.random([0, 2])]),
      OperatorSample(
        "large values", inputs: [.sample([1000, 1001, -1000] as [Float], [1, 3])],
        differentiableInputs: []),
      OperatorSample(
        "masked", inputs: [.sample([-.infinity, 1, 2, -.infinity] as [Float], [2, 2])],
        differentiableInputs: []),
      OperatorSample(
        "no such axis", attributes: ["axis": .int(2)], inputs: [.random([2, 2])],
        error: "axis 2 is outside"),
      OperatorSample("integers", inputs: [.sample([1, 2] as [Int64])], error: "input 0 is int64"),
    ]
  }
}
