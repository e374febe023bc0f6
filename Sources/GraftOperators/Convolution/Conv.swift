import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Y[n, m, o] = B[m] + sum over channels c of m's group and taps k of X[n, c, o * stride - pad + k *
/// dilation] * W[m, c, k], zeros outside X.
///
/// Shapes: X [N, C, spatial], W [M, C / group, taps], B [M] -> Y [N, M, spatial], with one to three
/// spatial axes. Attributes: `group` (1), `kernel_shape` (that of W), and those of
/// `WindowAttributes`. Sums in the element type, in the order (channel, tap), starting with B.
/// Gradients: `graft.ConvInputGradient`, `graft.ConvWeightGradient`, `graft.ConvBiasGradient`.
/// Source: ONNX Conv-11.
struct Conv: FloatingOperator {
  let name = "Conv"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    let geometry = try ConvolutionGeometry(
      context.node, input: try context.shape(0), weights: try context.shape(1))
    if context.has(2) {
      try context.requireSameType(0, 2)
      try requireBias(context, count: geometry.groups * geometry.outputChannels)
    }
    return [TensorType(try context.input(0).elementType, geometry.outputShape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let convolution = try context.kept {
      Convolution<T>(
        geometry: try ConvolutionGeometry(
          context.node, input: try context.input(0).shape, weights: try context.input(1).shape),
        threads: context.threads)
    }
    convolution.run(
      try context.input(0, as: type), try context.input(1, as: type),
      try context.inputIfPresent(2, as: type), try context.output(0, as: type))
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let (x, w) = (builder.input(0), builder.input(1))
    let attributes = builder.node.attributes
    return [
      builder.wants(0)
        ? builder.add("ConvInputGradient", domain: graftDomain, [dy, w, x], attributes) : nil,
      builder.wants(1)
        ? builder.add("ConvWeightGradient", domain: graftDomain, [dy, x, w], attributes) : nil,
      builder.wants(2) ? builder.add("ConvBiasGradient", domain: graftDomain, [dy]) : nil,
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 6, 5]), .random([4, 3, 3, 3])]),
      OperatorSample(
        "padded, bias", attributes: ["pads": .ints([1, 2, 0, 1])],
        inputs: [.random([2, 2, 5, 6]), .random([3, 2, 3, 3]), .random([3])]),
      OperatorSample(
        "padded, stride 1, wide", attributes: ["pads": .ints([1, 1, 1, 1])],
        inputs: [.random([1, 2, 4, 19]), .random([5, 2, 3, 3]), .random([5])]),
      OperatorSample(
        "strides", attributes: ["strides": .ints([2, 3]), "pads": .ints([1, 1, 1, 1])],
        inputs: [.random([1, 2, 7, 8]), .random([2, 2, 3, 3])]),
      OperatorSample(
        "dilations", attributes: ["dilations": .ints([2, 3]), "pads": .ints([2, 2, 2, 2])],
        inputs: [.random([1, 2, 7, 8]), .random([2, 2, 3, 2])]),
      OperatorSample(
        "strides and dilations", attributes: ["strides": .ints([2]), "dilations": .ints([3])],
        inputs: [.random([1, 2, 15]), .random([2, 2, 3])]),
      OperatorSample("pointwise", inputs: [.random([2, 5, 3, 4]), .random([6, 5, 1, 1])]),
      OperatorSample(
        "pointwise, stride 2", attributes: ["strides": .ints([2, 2])],
        inputs: [.random([2, 3, 5, 5]), .random([4, 3, 1, 1])]),
      OperatorSample(
        "pointwise, padded", attributes: ["pads": .ints([1, 0, 1, 2])],
        inputs: [.random([1, 2, 3, 4]), .random([3, 2, 1, 1])]),
      OperatorSample("whole image", inputs: [.random([3, 2, 3, 4]), .random([5, 2, 3, 4])]),
      OperatorSample(
        "groups", attributes: ["group": .int(2)],
        inputs: [.random([2, 6, 5, 5]), .random([4, 3, 3, 3]), .random([4])]),
      OperatorSample(
        "groups, stride 2", attributes: ["group": .int(2), "strides": .ints([2, 2])],
        inputs: [.random([2, 6, 5, 6]), .random([4, 3, 3, 3])]),
      OperatorSample(
        "groups, whole image", attributes: ["group": .int(2)],
        inputs: [.random([2, 4, 3]), .random([4, 2, 3])]),
      OperatorSample(
        "depthwise", attributes: ["group": .int(3), "pads": .ints([1, 1, 1, 1])],
        inputs: [.random([2, 3, 5, 6]), .random([3, 1, 3, 3]), .random([3])]),
      OperatorSample(
        "depthwise, stride 2",
        attributes: [
          "group": .int(3), "pads": .ints([1, 1, 1, 1]), "strides": .ints([2, 2]),
        ], inputs: [.random([1, 3, 7, 21]), .random([6, 1, 3, 3])]),
      OperatorSample(
        "depthwise, stride 3, dilated",
        attributes: ["group": .int(2), "strides": .ints([3]), "dilations": .ints([2])],
        inputs: [.random([2, 2, 40]), .random([2, 1, 4])]),
      OperatorSample(
        "audio", attributes: ["strides": .ints([5])],
        inputs: [.random([2, 1, 83]), .random([6, 1, 10]), .random([6])]),
      OperatorSample(
        "many taps and channels", attributes: ["pads": .ints([4, 4])],
        inputs: [.random([1, 33, 21]), .random([5, 33, 9])]),
      OperatorSample(
        "volume", attributes: ["pads": .ints([1, 0, 1, 0, 1, 1]), "strides": .ints([1, 2, 1])],
        inputs: [.random([1, 2, 3, 4, 5]), .random([2, 2, 2, 3, 2]), .random([2])]),
      OperatorSample(
        "same upper", attributes: ["auto_pad": .string("SAME_UPPER"), "strides": .ints([2, 2])],
        inputs: [.random([1, 1, 5, 6]), .random([2, 1, 3, 4])]),
      OperatorSample(
        "same lower", attributes: ["auto_pad": .string("SAME_LOWER"), "strides": .ints([1, 2])],
        inputs: [.random([1, 1, 5, 6]), .random([2, 1, 4, 3])]),
      OperatorSample(
        "valid", attributes: ["auto_pad": .string("VALID"), "kernel_shape": .ints([3, 2])],
        inputs: [.random([1, 1, 5, 6]), .random([2, 1, 3, 2])]),
      OperatorSample(
        "float64",
        inputs: [
          .sample([1, 2, 3, 4] as [Double], [1, 1, 4]), .sample([1, -1] as [Double], [1, 1, 2]),
        ]),
      OperatorSample("no images", inputs: [.random([0, 2, 5]), .random([3, 2, 3])]),
      OperatorSample(
        "channels misfit", inputs: [.random([1, 3, 5]), .random([2, 2, 3])],
        error: "the input has 3 channels"),
      OperatorSample(
        "window too large", inputs: [.random([1, 1, 3]), .random([1, 1, 5])],
        error: "a window of 5 positions does not fit"),
      OperatorSample(
        "kernel_shape misfit", attributes: ["kernel_shape": .ints([2])],
        inputs: [.random([1, 1, 3]), .random([1, 1, 3])], error: "'kernel_shape' is [2]"),
      OperatorSample(
        "strides misfit", attributes: ["strides": .ints([1])],
        inputs: [.random([1, 1, 3, 3]), .random([1, 1, 2, 2])],
        error: "attribute 'strides' has 1 numbers"),
      OperatorSample(
        "bias misfit", inputs: [.random([1, 1, 3]), .random([2, 1, 3]), .random([3])],
        error: "must have shape [2]"),
      OperatorSample(
        "negative padding", attributes: ["pads": .ints([-1, 0])],
        inputs: [.random([1, 1, 3]), .random([1, 1, 2])], error: "attribute 'pads' is [-1, 0]"),
      OperatorSample(
        "groups misfit", attributes: ["group": .int(2)],
        inputs: [.random([1, 4, 3]), .random([3, 2, 3])], error: "cannot be divided into 2 groups"),
    ]
  }
}

/// Checks that input 2 is a vector of `count` elements.
func requireBias(_ context: TypeContext, count: Int) throws {
  let shape = try context.shape(2)
  guard shape == [count] else {
    throw GraftError(
      .shapeMismatch, "input 2, the bias, has shape \(shape); it must have shape [\(count)]")
  }
}
