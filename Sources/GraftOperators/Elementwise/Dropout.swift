import GraftGraph
import GraftTensor

/// Dropout: output = data and mask = true everywhere, unless `training_mode` is true; then output =
/// data / (1 - ratio) where the mask is true and 0 elsewhere.
///
/// Inputs: data, and optionally the scalars `ratio`, 0.5 by default, and `training_mode`, false by
/// default. Attribute: `seed` 0; the same seed gives the same mask in every run. Gradient: ddata =
/// doutput, in training mode the same dropout of doutput. Source: ONNX Dropout-13.
struct Dropout: FloatingOperator {
  let name = "Dropout"
  let inputCount = 1...3
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    if context.has(2) {
      try context.require(2, [.bool])
      try context.requireSingle(2)
    }
    _ = try context.node.int("seed", default: 0)
    return try context.dropoutTypes()
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    if context.has(2), try context.input(2, as: Bool.self).pointee {
      return try context.dropOut(
        type,
        DropoutMask(
          ratio: try context.dropoutRatio(), seed: try context.node.int("seed", default: 0),
          draw: 0))
    }
    try context.copyElements()
    guard context.wantsOutput(1) else { return }
    try context.output(1, as: Bool.self).update(
      repeating: true, count: try context.output(1).elementCount)
  }

  let differentiation = Differentiation.rule { builder in
    guard let gradient = builder.outputGradients.first ?? nil, !builder.input(2).isEmpty else {
      return [builder.outputGradients.first ?? nil]
    }
    return [
      builder.add(
        "Dropout", [gradient, builder.input(1), builder.input(2)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    func sample(
      _ name: String, ratio: Float, isTraining: Bool, error: String? = nil,
      skipsOracle: Bool = false
    ) -> OperatorSample {
      OperatorSample(
        name, inputs: [.random([7]), .sample([ratio], []), .sample([isTraining], [])],
        differentiableInputs: [0], error: error, skipsOracle: skipsOracle)
    }
    return [
      OperatorSample("data only", inputs: [.random([3, 5])]),
      OperatorSample(
        "with mask", inputs: [.random([3, 5]), .sample([0.3] as [Float], [])], outputCount: 2,
        differentiableInputs: [0]),
      sample("inference", ratio: 0.3, isTraining: false),
      sample("ratio 0", ratio: 0, isTraining: true),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
      sample("training", ratio: 0.3, isTraining: true, skipsOracle: true),
      sample("no ratio", ratio: -0.5, isTraining: true, error: "elements to drop is -0.5"),
    ]
  }
}
