import GraftGraph
import GraftTensor

/// y = x - max - log(sum(exp(x - max))) along one axis.
///
/// Attribute `axis`: -1. The maximum is subtracted, so nothing overflows; sums are pairwise in the
/// element type. A NaN makes its whole line NaN, and so does a line of minus infinity only.
/// Gradient: dx = dy - exp(y) * sum(dy). Source: ONNX LogSoftmax-13.
struct LogSoftmax: FloatingOperator {
  let name = "LogSoftmax"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try Softmax().outputTypes(context)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 0)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(2 * geometry.outputCount, of: type) { largest in
      let logarithm = largest + geometry.outputCount
      let largestReducer = LargestReducer(x: x)
      let sumReducer = ShiftedExpReducer(x: x, pivot: largest)
      geometry.forEachTile(context, of: type, cost: 16) { tile, scratch in
        geometry.reduce(tile, largestReducer, scratch, into: largest)
        geometry.reduce(tile, sumReducer, scratch, into: logarithm)
        for line in tile.outputs { logarithm[line] = .log(logarithm[line]) }
        geometry.forEachElement(of: tile) {
          (largest: largest[$0], logarithm: logarithm[$0])
        } apply: { i, line in
          y[i] = (x[i] - line.largest) - line.logarithm
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "LogSoftmaxGradient", domain: graftDomain, [builder.outputGradient, builder.output(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] { Softmax.samples }
}
