import GraftGraph
import GraftTensor

/// The p-norm of the elements that a window sees: y = (sum of |x|^p)^(1/p).
///
/// Shapes: X [N, C, spatial] -> Y [N, C, spatial]. Attributes: `kernel_shape`, `p` (2), those of
/// `WindowAttributes`. Padding adds nothing. Sums in the element type. Gradient:
/// `graft.LpPoolGradient`. Source: ONNX LpPool-18.
struct LpPool: FloatingOperator {
  let name = "LpPool"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try LpNorm<Float>(context.node)
    let geometry = try PoolingGeometry(context.node, input: try context.shape(0))
    return [TensorType(try context.input(0).elementType, geometry.outputShape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(0).shape)
    }
    let window = geometry.window
    let norm = try LpNorm<T>(context.node)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    geometry.forEachPlane(context) { input, output in
      let target = y + output
      target.update(repeating: 0, count: window.outputCount)
      let source = x + input
      let stride = window.width.stride
      for tap in 0..<window.tapCount {
        window.forEachRow(ofTap: tap) { output, count, input in
          let y = target + output
          let x = source + input
          for i in 0..<count { y[i] += norm.term(x[stride &* i]) }
        }
      }
      for i in 0..<window.outputCount { target[i] = norm.norm(target[i]) }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "LpPoolGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0), builder.output(0)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "picture", attributes: ["kernel_shape": .ints([2, 3])], inputs: [.random([2, 3, 5, 6])]),
      OperatorSample(
        "sums of magnitudes",
        attributes: [
          "kernel_shape": .ints([3, 3]), "p": .int(1), "pads": .ints([1, 1, 1, 1]),
          "strides": .ints([2, 2]),
        ], inputs: [.random([1, 2, 6, 7])]),
      OperatorSample(
        "p = 3, dilated",
        attributes: ["kernel_shape": .ints([3]), "p": .int(3), "dilations": .ints([2])],
        inputs: [.random([1, 2, 9])]),
      OperatorSample(
        "same upper",
        attributes: [
          "kernel_shape": .ints([2]), "strides": .ints([2]), "auto_pad": .string("SAME_UPPER"),
        ], inputs: [.random([1, 2, 5])]),
      OperatorSample(
        "no such norm", attributes: ["kernel_shape": .ints([2]), "p": .int(0)],
        inputs: [.random([1, 1, 5])], error: "attribute 'p' is 0"),
    ]
  }
}
