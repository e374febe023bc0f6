import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x summed over the axes along which the reference's shape broadcasts to that of x; y has the
/// reference's shape.
///
/// Inputs: x and the reference, of which only the shape is read. It undoes broadcasting in
/// gradients. Sums are in the element type; their order depends on the shapes only. Gradient: dx =
/// dy broadcast to the shape of x.
struct SumToShape: FloatingOperator {
  let name = "SumToShape"
  let domain = graftDomain
  let inputCount = 2...2
  let copiesInputOfSameType = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    let shape = try context.shape(0)
    let reference = try context.shape(1)
    guard try reference.broadcast(with: shape) == shape else {
      throw GraftError(
        .shapeMismatch, "shape \(shape) cannot be summed to \(reference), which is no part of it")
    }
    return [TensorType(try context.input(0).elementType, reference)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let result = try context.output(0).shape
    if shape.elementCount == result.elementCount { return try context.copyElements() }
    context.kept { BroadcastSum(shape, to: result) }.run(
      context, try context.input(0, as: type), try context.output(0, as: type))
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [] }
    let shape = builder.add("Shape", [builder.input(0)])
    return [builder.add("Expand", [builder.outputGradient, shape])]
  }

  var samples: [OperatorSample] {
    func sample(_ name: String, _ shape: Shape, _ reference: Shape) -> OperatorSample {
      OperatorSample(
        name, inputs: [.random(shape), .random(reference)], differentiableInputs: [0])
    }
    return [
      sample("equal shapes", [3, 4], [3, 4]),
      sample("leading axis", [7, 5], [5]),
      sample("trailing axis", [3, 19], [3, 1]),
      sample("channels", [2, 3, 5, 4], [3, 1, 1]),
      sample("middle axis", [2, 3, 4], [2, 1, 4]),
      sample("alternating", [2, 3, 4, 5, 2], [1, 3, 1, 5, 1]),
      sample("to a scalar", [3, 11], []),
      sample("ones only", [2, 1, 3], [1, 1, 1]),
      sample("no terms", [0, 3], [3]),
      sample("no terms in rows", [3, 0], [3, 1]),
      sample("empty", [2, 0], [0]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4])], error: "do not broadcast"),
      OperatorSample(
        "growth", inputs: [.random([3]), .random([2, 3])], error: "cannot be summed to [2, 3]"),
    ]
  }
}
