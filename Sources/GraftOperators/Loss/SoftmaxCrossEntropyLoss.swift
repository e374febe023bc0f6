import GraftGraph
import GraftTensor

/// Cross entropy of class scores: -log(softmax(scores)[label]), times the class's weight.
///
/// Inputs: scores [N, C, d1, ...]; labels [N, d1, ...], int64 or int32; optionally a weight for
/// each class, [C]. Outputs: the loss, and optionally log(softmax(scores)). Attributes:
/// `reduction`: `none` (one loss for each label), `sum` or `mean` (default: the sum over the sum of
/// weights); `ignore_index`: labels that count nothing.
///
/// A mean in which nothing counts is 0. The kernel throws `badData` when a label is neither a class
/// nor ignored. Gradient: scores, from both outputs; class weights get none.
/// Source: ONNX SoftmaxCrossEntropyLoss-13.
struct SoftmaxCrossEntropyLoss: FloatingOperator {
  let name = "SoftmaxCrossEntropyLoss"
  let inputCount = 2...3
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try classLossType(context, scores: 0), try context.input(0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    try ClassLabels<T>.read(context, scores: 0) { labels in
      let geometry = try context.kept {
        ReductionGeometry(try context.input(0).shape, axes: [1])
      }
      let x = try context.input(0, as: type)
      let logProbabilities = context.wantsOutput(1) ? try context.output(1, as: type) : nil
      try context.withScratch(2 * geometry.outputCount, of: type) { largest in
        let logarithm = largest + geometry.outputCount
        let largestReducer = LargestReducer(x: x)
        let sumReducer = ShiftedExpReducer(x: x, pivot: largest)
        geometry.forEachTile(context, of: type, cost: 16) { tile, scratch in
          geometry.reduce(tile, largestReducer, scratch, into: largest)
          geometry.reduce(tile, sumReducer, scratch, into: logarithm)
          for position in tile.outputs { logarithm[position] = .log(logarithm[position]) }
          guard let logProbabilities else { return }
          geometry.forEachElement(of: tile) {
            (largest: largest[$0], logarithm: logarithm[$0])
          } apply: { i, position in
            logProbabilities[i] = (x[i] - position.largest) - position.logarithm
          }
        }
        try context.fillClassLoss(labels) { losses in
          for position in 0..<labels.count {
            let weight = labels.weights[position]
            let score = x[labels.element(position)]
            losses[position] =
              weight == 0 ? 0 : weight * (logarithm[position] - (score - largest[position]))
          }
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    var terms: [String] = []
    if let loss = builder.outputGradients.first ?? nil {
      terms.append(
        builder.add(
          "SoftmaxCrossEntropyLossGradient", domain: graftDomain, [loss] + builder.node.inputs,
          builder.node.attributes))
    }
    if let logProbabilities = builder.outputGradients.dropFirst().first ?? nil {
      terms.append(
        builder.add(
          "LogSoftmaxGradient", domain: graftDomain, [logProbabilities, builder.output(1)],
          ["axis": .int(1)]))
    }
    return [terms.count == 2 ? builder.add("Sum", terms) : terms.first]
  }

  var samples: [OperatorSample] {
    ClassLossSamples.all(outputs: 1)
      + ClassLossSamples.all(outputs: 2).prefix(4).map {
        var sample = $0
        sample.name += ", log probabilities"
        return sample
      } + [
        OperatorSample(
          "large scores",
          inputs: [
            .sample([1000, -1000, 0, 999] as [Float], [2, 2]), .sample([1, 0] as [Int64]),
          ])
      ]
  }
}
