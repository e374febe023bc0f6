import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The convolution that runs from a Conv's output to its input: Y[n, m, i * stride - pad + k *
/// dilation] += X[n, c, i] * W[c, m, k] for every channel c of m's group and tap k, starting with
/// B[m].
///
/// Shapes: X [N, C, spatial], W [C, M / group, taps], B [M] -> Y [N, M, spatial] with stride * (in -
/// 1) + output_padding + (taps - 1) * dilation + 1 - pads positions on an axis. Attributes: `group`
/// (1), `kernel_shape` (that of W), `strides`, `dilations` (1), `pads` (0), `output_padding` (0),
/// `auto_pad` (NOTSET; SAME gives in * stride positions) and `output_shape`, the spatial shape, from
/// which the pads then follow. Gradients: `graft.ConvTransposeInputGradient`,
/// `graft.ConvTransposeWeightGradient`, `graft.ConvBiasGradient`. Source: ONNX ConvTranspose-11.
struct ConvTranspose: FloatingOperator {
  let name = "ConvTranspose"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    let geometry = try ConvolutionGeometry(
      transposing: context.node, input: try context.shape(0), weights: try context.shape(1))
    if context.has(2) {
      try context.requireSameType(0, 2)
      try requireBias(context, count: geometry.groups * geometry.inputChannels)
    }
    return [TensorType(try context.input(0).elementType, geometry.inputShape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let convolution = try context.kept {
      Convolution<T>(
        geometry: try ConvolutionGeometry(
          transposing: context.node, input: try context.input(0).shape,
          weights: try context.input(1).shape),
        threads: context.threads)
    }
    try convolution.runInputGradient(
      context, try context.input(0, as: type), try context.input(1, as: type),
      try context.inputIfPresent(2, as: type), try context.output(0, as: type))
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let inputs = [dy, builder.input(0), builder.input(1)]
    let attributes = builder.node.attributes
    return [
      builder.wants(0)
        ? builder.add("ConvTransposeInputGradient", domain: graftDomain, inputs, attributes) : nil,
      builder.wants(1)
        ? builder.add("ConvTransposeWeightGradient", domain: graftDomain, inputs, attributes) : nil,
      builder.wants(2) ? builder.add("ConvBiasGradient", domain: graftDomain, [dy]) : nil,
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "stride 2, bias", attributes: ["strides": .ints([2, 2])],
        inputs: [.random([2, 3, 3, 4]), .random([3, 2, 3, 3]), .random([2])]),
      OperatorSample(
        "stride 1, padded", attributes: ["pads": .ints([1, 0, 1, 2])],
        inputs: [.random([1, 3, 4, 5]), .random([3, 2, 3, 3]), .random([2])]),
      OperatorSample(
        "output padding",
        attributes: [
          "strides": .ints([3, 2]), "pads": .ints([1, 1, 1, 1]), "output_padding": .ints([2, 1]),
        ], inputs: [.random([1, 2, 3, 4]), .random([2, 3, 3, 3])]),
      OperatorSample(
        "dilations", attributes: ["dilations": .ints([2, 3])],
        inputs: [.random([1, 2, 3, 4]), .random([2, 2, 2, 3])]),
      OperatorSample(
        "strides and dilations", attributes: ["strides": .ints([2]), "dilations": .ints([3])],
        inputs: [.random([2, 2, 7]), .random([2, 3, 3])]),
      OperatorSample(
        "groups", attributes: ["group": .int(2), "strides": .ints([2])],
        inputs: [.random([2, 4, 5]), .random([4, 3, 3]), .random([6])]),
      OperatorSample(
        "groups, stride 1", attributes: ["group": .int(2)],
        inputs: [.random([2, 4, 5]), .random([4, 3, 3]), .random([6])]),
      OperatorSample(
        "depthwise", attributes: ["group": .int(3), "strides": .ints([2, 2])],
        inputs: [.random([1, 3, 4, 5]), .random([3, 1, 4, 4]), .random([3])]),
      OperatorSample(
        "pointwise", inputs: [.random([2, 3, 4]), .random([3, 5, 1])]),
      OperatorSample(
        "volume", attributes: ["strides": .ints([2, 1, 2])],
        inputs: [.random([1, 2, 2, 3, 2]), .random([2, 2, 2, 2, 3])]),
      OperatorSample(
        "same upper", attributes: ["auto_pad": .string("SAME_UPPER"), "strides": .ints([2, 2])],
        inputs: [.random([1, 1, 3, 4]), .random([1, 2, 3, 5])]),
      OperatorSample(
        "same lower", attributes: ["auto_pad": .string("SAME_LOWER"), "strides": .ints([2, 2])],
        inputs: [.random([1, 1, 3, 4]), .random([1, 2, 3, 5])]),
      OperatorSample(
        "output shape", attributes: ["output_shape": .ints([6, 8]), "strides": .ints([2, 2])],
        inputs: [.random([1, 1, 3, 4]), .random([1, 2, 3, 3])]),
      OperatorSample(
        "output shape, upper",
        attributes: [
          "output_shape": .ints([10]), "strides": .ints([3]), "auto_pad": .string("SAME_UPPER"),
        ], inputs: [.random([1, 1, 4]), .random([1, 2, 4])]),
      OperatorSample("no images", inputs: [.random([0, 2, 5]), .random([2, 3, 3])]),
      OperatorSample(
        "channels misfit", inputs: [.random([1, 3, 5]), .random([2, 2, 3])],
        error: "the input has 3 channels"),
      OperatorSample(
        "padded away", attributes: ["pads": .ints([9, 9])],
        inputs: [.random([1, 2, 3]), .random([2, 2, 3])], error: "nothing is left"),
    ]
  }
}
