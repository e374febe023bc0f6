import GraftGraph
import GraftTensor

/// Dropout while training: y = x / (1 - ratio) where the mask is true, 0 elsewhere.
///
/// The mask depends on `seed`, the draw and the element's index only: equal ones give the same mask,
/// however many threads there are. Inputs: x, of any shape; the ratio of elements to drop, one
/// number from 0 up to but not 1, 0.5 when left out; the draw, one int64. Outputs: y; the mask, of
/// x's shape. Attribute: `seed` 0. Gradient: the same dropout of dy. Source: Srivastava and others,
/// Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014; ONNX Dropout-13.
struct SeededDropout: FloatingOperator {
  let name = "SeededDropout"
  let domain = graftDomain
  let inputCount = 3...3
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(2, [.int64])
    try context.requireSingle(2)
    _ = try context.node.int("seed", default: 0)
    return try context.dropoutTypes()
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let mask = DropoutMask(
      ratio: try context.dropoutRatio(), seed: try context.node.int("seed", default: 0),
      draw: try context.singleInt(2))
    try context.dropOut(type, mask)
  }

  let differentiation = Differentiation.rule { builder in
    guard let gradient = builder.outputGradients.first ?? nil else { return [nil] }
    return [
      builder.add(
        "SeededDropout", domain: graftDomain, [gradient, builder.input(1), builder.input(2)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    func sample(
      _ name: String, ratio: Float, draw: Int64 = 3, seed: Int = 1, error: String? = nil
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: ["seed": .int(seed)],
        inputs: [.random([64, 33]), .sample([ratio], []), .sample([draw], [])], outputCount: 2,
        differentiableInputs: [0], error: error)
    }
    return [
      sample("a third", ratio: 0.3),
      sample("nothing", ratio: 0),
      sample("another draw", ratio: 0.9, draw: -5, seed: -1),
      OperatorSample(
        "usual ratio", inputs: [.random([5]), nil, .sample([0] as [Int64], [])],
        differentiableInputs: [0]),
      sample("everything", ratio: 1, error: "the ratio of elements to drop is 1.0"),
    ]
  }
}
