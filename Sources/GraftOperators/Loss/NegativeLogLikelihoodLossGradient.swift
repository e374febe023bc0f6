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
    let labels = try ClassLabels<T>(context, scores: 1)
    let reduction = try LossReduction(context.node)
    let factors = labels.factors(try context.input(0, as: type), reduction)
    let dx = try context.output(0, as: type)
    dx.update(repeating: 0, count: try context.output(0).elementCount)
    for (position, factor) in factors.enumerated() where factor != 0 {
      dx[labels.element(position)] = -factor
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    SoftmaxCrossEntropyLossGradient().samples
  }
}
