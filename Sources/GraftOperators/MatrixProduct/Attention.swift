import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = softmax(scale * Q K + mask) V: what a plan makes of the nodes that compute it one by one.
///
/// Inputs: queries Q [..., rows, depth]; keys K [..., depth, length], so transposed already; values V
/// [..., length, width]; optionally a mask that broadcasts to the scores [..., rows, length]. Output:
/// [..., rows, width]. Attribute `scale`: 1. Source: Vaswani et al., Attention Is All You Need (2017).
struct Attention: FloatingOperator {
  let name = "Attention"
  let domain = graftDomain
  let inputCount = 3...4

  /// The operators that compute it, each with the inputs of ours that it takes beside the result so
  /// far; the first takes two.
  private func steps(hasMask: Bool) -> [(op: any Operator, inputs: [Int])] {
    [(MatMul(), [0, 1])] + (hasMask ? [(Add(), [3])] : []) + [(Softmax(), []), (MatMul(), [2])]
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    var result: TensorType?
    for (op, inputs) in steps(hasMask: context.has(3)) {
      let types = [result].compactMap { $0 } + (try inputs.map(context.input))
      result = try op.outputTypes(
        TypeContext(node: Self.node(op), inputs: types, values: types.map { _ in nil }))[0]
    }
    return [try result.orThrow { GraftError(.internalFault, "attention has no steps") }]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let scale = T(try context.node.float("scale", default: 1))
    var result: Tensor?
    let steps = steps(hasMask: context.has(3))
    for (number, (op, inputs)) in steps.enumerated() {
      let node = Self.node(op)
      let tensors = [result].compactMap { $0 } + (try inputs.map(context.input))
      let shape = try op.outputTypes(
        TypeContext(node: node, inputs: tensors.map(TensorType.init), values: tensors))[0].shape
      let output =
        try number + 1 == steps.count
        ? context.output(0) : Tensor(uninitialized: shape, T.elementType)
      try op.run(
        KernelContext(node: node, inputs: tensors, outputs: [output], threads: context.threads))
      if number == 0 {
        let scores = try output.mutablePointer(as: T.self)
        context.parallel(output.elementCount) { range in
          for index in range { scores[index] *= scale }
        }
      }
      result = output
    }
  }

  private static func node(_ op: any Operator) -> Node {
    Node(op.name, inputs: [], outputs: [])
  }

  let differentiation = Differentiation.unavailable(
    because: "plans put it together after gradients are made")

  var samples: [OperatorSample] {
    func sample(_ name: String, _ shapes: Shape..., scale: Float = 0.5) -> OperatorSample {
      OperatorSample(
        name, attributes: ["scale": .float(scale)],
        inputs: shapes.enumerated().map { .random($1, seed: UInt64($0)) })
    }
    return [
      sample("one head", [5, 8], [8, 7], [7, 9]),
      sample("heads", [2, 3, 101, 16], [2, 3, 16, 37], [2, 3, 37, 12]),
      sample("mask for all rows", [2, 3, 5, 4], [2, 3, 4, 6], [2, 3, 6, 4], [2, 1, 1, 6]),
      sample("mask for each row", [2, 5, 4], [2, 4, 6], [2, 6, 4], [5, 6]),
      sample("shared keys", [2, 5, 4], [1, 4, 6], [1, 6, 4], scale: 1),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4, 2]), .random([2, 3])],
        error: "3 columns against 4 rows"),
    ]
  }
}
