import GraftGraph
import GraftTensor

/// The gradient of NegativeLogLikelihoodLoss for the log probabilities: -dloss * weight at each
/// label's class, over the sum of weights for `mean`; 0 elsewhere.
///
/// Inputs: dloss, log probabilities, labels and optionally class weights; the attributes of the
/// forward node.
struct NegativeLogLikelihoodLossGradient: FloatingOperator {
  let name = "NegativeLogLikelihoodLossGradient"
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
      let dx = try context.output(0, as: type)
      dx.update(repeating: 0, count: try context.output(0).elementCount)
      for position in 0..<labels.count where factors[position] != 0 {
        dx[labels.element(position)] = -factors[position]
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    SoftmaxCrossEntropyLossGradient().samples
  }
}
