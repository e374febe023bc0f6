import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// ConvTranspose and its gradients, by way of the convolution from the node's output to its input.
struct TransposedConvolution: OneDNNKernel {
  let operators = [
    "ConvTranspose", "graft.ConvTransposeInputGradient", "graft.ConvTransposeWeightGradient",
  ]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    switch request.node.op {
    case "ConvTranspose": try forward(request)
    case "ConvTransposeInputGradient": try inputGradient(request)
    default: try weightGradient(request)
    }
  }

  private func forward(_ request: KernelRequest) throws -> PlannedKernel {
    let (x, w) = (try request.required(0).type.shape, try request.required(1).type.shape)
    let y = try request.requiredOutput(0).shape
    let geometry = try ConvolutionGeometry(undoing: request.node, input: x, weights: w, output: y)
    let source = try OneDNNLayout.any(x.dimensions)
    let weights = try OneDNNLayout.any(geometry.transposedWeights)
    let bias = try request.input(2).map { try OneDNNLayout($0.type.shape.dimensions) }
    let destination = try OneDNNLayout.any(y.dimensions)
    let primitive = try Primitive { result in
      var description = graft_convolution()
      description.source = source.handle
      description.weights = weights.handle
      description.bias = bias?.handle
      description.destination = destination.handle
      description.window = graft_window(geometry.window)
      return graft_transposed_convolution_create(&description, result)
    }
    let packed = try primitive.layout(
      .weights, transposedStrides: geometry.transposedWeightStrides)
    var operands: [(operand: PlannedKernel.Operand, slot: Slot)] = [
      try primitive.operand(0, .source), (PlannedKernel.Operand(1, layout: packed), .weights),
    ]
    if bias != nil { operands.append((PlannedKernel.Operand(2), .bias)) }
    return try primitive.planned(operands, outputs: [.destination])
  }

  /// Inputs dY, X and W.
  private func inputGradient(_ request: KernelRequest) throws -> PlannedKernel {
    let primitive = try gradientGeometry(request).primitive(graft_convolution_create)
    return try primitive.planned(
      [primitive.operand(0, .source), primitive.operand(2, .weights)], outputs: [.destination])
  }

  /// Inputs dY, X and W, which is not read.
  private func weightGradient(_ request: KernelRequest) throws -> PlannedKernel {
    let primitive = try gradientGeometry(request)
      .primitive(graft_convolution_backward_weights_create)
    return try primitive.planned(
      [primitive.operand(0, .source), primitive.operand(1, .destinationGradient)],
      outputs: [.weightGradient])
  }

  private func gradientGeometry(_ request: KernelRequest) throws -> ConvolutionGeometry {
    try ConvolutionGeometry(
      undoing: request.node, input: try request.required(1).type.shape,
      weights: try request.required(2).type.shape, output: try request.required(0).type.shape)
  }
}

extension ConvolutionGeometry {
  /// The convolution from a ConvTranspose node's output to its input.
  ///
  /// - Throws: `KernelDeclined` when it would make more positions than the input has.
  init(undoing node: Node, input: Shape, weights: Shape, output: Shape) throws {
    guard (3...5).contains(input.rank), weights.rank == input.rank, output.rank == input.rank else {
      throw KernelDeclined("not one to three axes")
    }
    let attributes = try WindowAttributes(node, kernel: Array(weights[2...]))
    let spatial = input.rank - 2
    let extra = try node.ints("output_padding", default: [Int](repeating: 0, count: spatial))
    guard extra.count == spatial else { throw KernelDeclined("output_padding does not fit") }
    var begins: [Int] = []
    var ends: [Int] = []
    for axis in 0..<spatial {
      let extent = (attributes.kernel[axis] - 1) * attributes.dilations[axis] + 1
      let reached = (input[axis + 2] - 1) * attributes.strides[axis] + extent
      var begin = attributes.padsBegin[axis]
      let isSame = attributes.padding == .sameUpper || attributes.padding == .sameLower
      if isSame || node.has("output_shape") {
        let total = max(0, reached + extra[axis] - output[axis + 2])
        begin = attributes.padding == .sameUpper ? total / 2 : total - total / 2
      }
      begins.append(begin)
      ends.append(max(0, reached - output[axis + 2] - begin))
    }
    var convolution = node
    convolution.attributes["pads"] = .ints(begins + ends)
    for name in ["auto_pad", "output_padding", "output_shape"] {
      convolution.attributes[name] = nil
    }
    try self.init(convolution, input: output, weights: weights)
    guard outputShape == input else {
      throw KernelDeclined("output_padding adds more than a stride")
    }
  }

  /// The dimensions of the weights as oneDNN's transposed convolution names them: output channels
  /// before input channels, and groups before both.
  fileprivate var transposedWeights: [Int] {
    let dimensions = [inputChannels, outputChannels] + window.axes.map(\.kernel)
    return groups == 1 ? dimensions : [groups] + dimensions
  }

  /// The strides by which the node's weights are read in that order.
  fileprivate var transposedWeightStrides: [Int] {
    let taps = window.axes.map(\.kernel)
    let tapCount = taps.reduce(1, *)
    let tapStrides = taps.indices.map { taps[($0 + 1)...].reduce(1, *) }
    let strides = [tapCount, inputChannels * tapCount] + tapStrides
    return groups == 1 ? strides : [outputChannels * inputChannels * tapCount] + strides
  }
}
