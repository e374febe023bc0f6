import GraftGraph
import GraftTensor

/// y = x in the element type of a second input, of which only the type is read; converted as by
/// Cast.
///
/// Gradient: dx = dy in the type of x. Source: ONNX CastLike-21.
struct CastLike: Operator {
  let name = "CastLike"
  let inputCount = 2...2
  let copiesInputOfSameType = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let type = try context.input(1).elementType
    try checkConversion(context, to: type)
    return [TensorType(type, try context.shape(0))]
  }

  func run(_ context: KernelContext) throws { try context.convertElements() }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [] }
    return [builder.add("CastLike", [builder.outputGradient, builder.input(0)])]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "same type", inputs: [.random([3, 5]), .random([1])], differentiableInputs: [0]),
      OperatorSample(
        "to float64", inputs: [.random([3]), .sample([1] as [Double])], differentiableInputs: [0]),
      OperatorSample("to int64", inputs: [.random([3], scale: 9), .sample([1] as [Int64])]),
      OperatorSample("to bool", inputs: [.sample([0, 1, 2] as [Int32]), .sample([true])]),
      OperatorSample("from bool", inputs: [.sample([true, false]), .random([])]),
    ]
  }
}
