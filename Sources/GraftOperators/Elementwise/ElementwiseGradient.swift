import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of any `ElementwiseDifferentiable` operator: dx = dy * f'.
///
/// Inputs: dy, and the function's argument or value, whichever its derivative reads; both of one
/// type and shape. Attributes: `function`, the operator's name, and that operator's own attributes.
struct ElementwiseGradient: BlockOperator {
  let name = "ElementwiseGradient"
  let domain = graftDomain
  let inputCount = 2...2
  let isElementwise = true
  private let functions: [String: any ElementwiseDifferentiable]

  /// - Parameter operators: the operators, among others, whose gradients it computes.
  init(of operators: [any Operator]) {
    functions = Dictionary(
      operators.compactMap { $0 as? any ElementwiseDifferentiable }.map { ($0.name, $0) }
    ) { first, _ in first }
  }

  private func function(_ node: Node) throws -> any ElementwiseDifferentiable {
    let name = try node.string("function")
    return try functions[name].orThrow {
      GraftError(.damaged, "there is no differentiable elementwise function '\(name)'")
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try function(context.node)
    return [try gradientType(context, like: 1)]
  }

  func run(_ context: KernelContext) throws {
    try function(context.node).runGradient(context)
  }

  func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    try function(node).gradientBlockFunction(node, position: position)
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "by the value", attributes: ["function": .string("Tanh")],
        inputs: [.random([3, 5]), .random([3, 5], seed: 1)], differentiableInputs: []),
      OperatorSample(
        "by the argument", attributes: ["function": .string("Elu"), "alpha": .float(0.5)],
        inputs: [.random([7]), .random([7], seed: 1)], differentiableInputs: []),
      OperatorSample(
        "no function", attributes: ["function": .string("Conv")],
        inputs: [.random([3]), .random([3])], error: "no differentiable elementwise function"),
      OperatorSample(
        "misfit", attributes: ["function": .string("Tanh")],
        inputs: [.random([3]), .random([4])], error: "the gradient has shape [3]"),
    ]
  }
}

/// The type of a gradient (input 0) that must have the type and shape of input `index`.
func gradientType(_ context: TypeContext, like index: Int) throws -> TensorType {
  let type = try context.input(index)
  try context.require(index, ElementType.floating)
  try context.requireSameType(index, 0)
  let shape = try context.shape(0)
  guard shape == type.shape else {
    throw GraftError(
      .shapeMismatch, "the gradient has shape \(shape), input \(index) has \(type.shape)")
  }
  return type
}
