import GraftGraph
import GraftTensor

/// y[n, c] = the mean of x[n, c, ...] over all positions.
///
/// Shapes: x [N, C, D1, ...] -> y [N, C, 1, ...]. Sums are in double precision. Gradient: dy spread
/// evenly. Source: ONNX GlobalAveragePool-1.
struct GlobalAveragePool: FloatingOperator {
  let name = "GlobalAveragePool"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireRank(0, 3...Int.max)
    let input = try context.input(0)
    let ones = [Int](repeating: 1, count: input.shape.rank - 2)
    return [TensorType(input.elementType, Shape(Array(input.shape[0..<2]) + ones))]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let count = shape.elementCount(in: 2..<shape.rank)
    context.parallel(try context.output(0).elementCount, cost: count) { range in
      for line in range {
        var sum = 0.0
        for i in line * count..<(line + 1) * count { sum += Double(x[i]) }
        y[line] = T(sum / Double(count))
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "GlobalAveragePoolGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0)])
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("pictures", inputs: [.random([2, 3, 4, 5])]),
      OperatorSample("sequence", inputs: [.random([1, 2, 7])]),
      OperatorSample("no positions", inputs: [.random([2, 3])], error: "its rank must be"),
    ]
  }
}
