import GraftGraph
import GraftTensor

/// The p-norm of every plane: X [N, C, spatial] -> Y [N, C, 1, ...], y = (sum of |x|^p)^(1/p).
///
/// Attribute `p`: 2. Sums in the element type, eight partial sums at a time. Gradient:
/// `graft.GlobalLpPoolGradient`. Source: ONNX GlobalLpPool-2.
struct GlobalLpPool: GlobalPooling {
  let name = "GlobalLpPool"

  func check(_ node: Node) throws { _ = try LpNorm<Float>(node) }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let norm = try LpNorm<T>(context.node)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 0) { plane, count in
      y[plane] = norm.norm(planeSum(x + plane * count, count) { norm.term($0) })
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "GlobalLpPoolGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0), builder.output(0)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 5, 7])]),
      OperatorSample(
        "sums of magnitudes", attributes: ["p": .int(1)], inputs: [.random([2, 3, 5])]),
      OperatorSample("p = 3", attributes: ["p": .int(3)], inputs: [.random([2, 3, 5])]),
      OperatorSample(
        "no such norm", attributes: ["p": .int(-1)], inputs: [.random([2, 3, 5])],
        error: "attribute 'p' is -1"),
    ]
  }
}
