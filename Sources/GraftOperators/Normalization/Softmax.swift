import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = exp(x - max) / sum(exp(x - max)) along one axis.
///
/// Attribute `axis`: -1. The maximum is subtracted, so nothing overflows; sums are in the element
/// type. A NaN makes its whole line NaN. Gradient: dx = y * (dy - sum(dy * y)).
/// Source: ONNX Softmax-13.
struct Softmax: FloatingOperator {
  let name = "Softmax"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try context.shape(0).axis(try context.node.int("axis", default: -1))
    return [try context.input(0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let lines = AxisLines(
      try context.input(0).shape, axis: try context.node.int("axis", default: -1))
    lines.run(context, cost: 16) { start, step, count in
      let x = x + start
      let y = y + start
      var largest = T.lowest
      for i in 0..<count { largest = max(largest, x[i &* step]) }
      var sum: T = 0
      for i in 0..<count {
        let e = T.exp(x[i &* step] - largest)
        y[i &* step] = e
        sum += e
      }
      let scale = 1 / sum
      for i in 0..<count { y[i &* step] *= scale }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "SoftmaxGradient", domain: graftDomain, [builder.outputGradient, builder.output(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("last axis", inputs: [.random([3, 5])]),
      OperatorSample("middle axis", attributes: ["axis": .int(1)], inputs: [.random([2, 4, 3])]),
      OperatorSample("large values", inputs: [.sample([1000, 1001, -1000] as [Float], [1, 3])]),
      OperatorSample(
        "no such axis", attributes: ["axis": .int(2)], inputs: [.random([2, 2])],
        error: "axis 2 is outside"),
    ]
  }
}
