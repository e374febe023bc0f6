import GraftGraph
import GraftTensor

/// The negative log probability of each label: -input[label], times the class's weight.
///
/// Inputs: log probabilities [N, C, d1, ...]; labels [N, d1, ...], int64 or int32; optionally a
/// weight for each class, [C]. Attributes: `reduction`: `none` (one loss for each label), `sum` or
/// `mean` (default: the sum over the sum of weights); `ignore_index`: labels that count nothing.
///
/// A mean in which nothing counts is 0. The kernel throws `badData` when a label is neither a class
/// nor ignored. Gradient: log probabilities; class weights get none.
/// Source: ONNX NegativeLogLikelihoodLoss-13.
struct NegativeLogLikelihoodLoss: FloatingOperator {
  let name = "NegativeLogLikelihoodLoss"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try classLossType(context, scores: 0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    try ClassLabels<T>.read(context, scores: 0) { labels in
      let x = try context.input(0, as: type)
      try context.fillClassLoss(labels) { losses in
        for position in 0..<labels.count {
          let weight = labels.weights[position]
          losses[position] = weight == 0 ? 0 : weight * -x[labels.element(position)]
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "NegativeLogLikelihoodLossGradient", domain: graftDomain,
        [builder.outputGradient] + builder.node.inputs, builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] { ClassLossSamples.all(outputs: 1) }
}
