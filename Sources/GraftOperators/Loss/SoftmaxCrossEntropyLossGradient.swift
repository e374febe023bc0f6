import GraftGraph
import GraftTensor

/// The gradient of SoftmaxCrossEntropyLoss for the scores:
/// dx = (softmax(x) - 1 at the label's class) * dloss * weight, over the sum of weights for `mean`.
///
/// Inputs: dloss, scores, labels and optionally class weights; the attributes of the forward node.
/// Ignored positions get 0.
struct SoftmaxCrossEntropyLossGradient: FloatingOperator {
  let name = "SoftmaxCrossEntropyLossGradient"
  let domain = graftDomain
  let inputCount = 3...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try classLossGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    try ClassLabels<T>.read(context, scores: 1) { labels in
      labels.multiplyWeights(
        try context.input(0, as: type), try LossReduction(context.node))
      let factors = labels.weights
      let geometry = try context.kept {
        ReductionGeometry(try context.input(1).shape, axes: [1])
      }
      let x = try context.input(1, as: type)
      let dx = try context.output(0, as: type)
      try context.withScratch(2 * geometry.outputCount, of: type) { largest in
        let scale = largest + geometry.outputCount
        let largestReducer = LargestReducer(x: x)
        let sumReducer = SumReducer(x: UnsafePointer(dx))
        geometry.forEachTile(context, of: type, cost: 16) { tile, scratch in
          geometry.reduce(tile, largestReducer, scratch, into: largest)
          geometry.forEachElement(of: tile) {
            largest[$0]
          } apply: { i, largest in
            dx[i] = .vectorExp(x[i] - largest)
          }
          geometry.reduce(tile, sumReducer, scratch, into: scale)
          for position in tile.outputs { scale[position] = factors[position] / scale[position] }
          geometry.forEachElement(of: tile) {
            scale[$0]
          } apply: { i, scale in
            dx[i] = scale == 0 ? 0 : dx[i] * scale
          }
          for position in tile.outputs { dx[labels.element(position)] -= factors[position] }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "mean", inputs: [.random([]), .random([2, 3]), .sample([2, 0] as [Int64])]),
      OperatorSample(
        "misfit", inputs: [.random([2]), .random([2, 3]), .sample([2, 0] as [Int64])],
        error: "input 0 has shape [2]; it must be []"),
    ]
  }
}
