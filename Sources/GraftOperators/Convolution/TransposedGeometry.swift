import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ConvolutionGeometry {
  /// The geometry of the convolution that a ConvTranspose node runs backwards: its input is the
  /// node's output.
  ///
  /// - Parameters:
  ///   - input: of the node, [batch, channels, spatial dimensions].
  ///   - weights: [channels, output channels / groups, taps].
  init(transposing node: Node, input: Shape, weights: Shape) throws {
    let groups = try Self.groups(node)
    let kernel = try Self.kernel(node, input: input, weights: weights)
    guard weights[0] == input[1] else {
      throw GraftError(
        .shapeMismatch,
        "the input has \(input[1]) channels; weights of shape \(weights) take \(weights[0])")
    }
    guard weights[0] % groups == 0 else {
      throw GraftError(
        .shapeMismatch, "\(weights[0]) channels cannot be divided into \(groups) groups")
    }
    guard multiply(weights[1], groups) != nil else {
      throw GraftError(.shapeMismatch, "\(groups) groups of \(weights[1]) channels are too many")
    }
    let spatial = Array(input.dimensions.dropFirst(2))
    let attributes = try WindowAttributes(node, kernel: kernel)
    let extra = try WindowAttributes.list(
      node, "output_padding", kernel.count, default: 0, minimum: 0)
    let wanted =
      node.has("output_shape")
      ? try WindowAttributes.list(node, "output_shape", kernel.count, default: 0, minimum: 1) : nil
    let axes = try spatial.indices.map { index in
      try Self.axis(attributes, index, spatial[index], extra[index], wanted?[index])
    }
    self.init(
      batch: input[0], groups: groups, inputChannels: weights[1],
      outputChannels: weights[0] / groups, window: SlidingWindow(axes))
  }

  /// - Parameters:
  ///   - input: positions of the node's input on the axis.
  ///   - extra: the axis's output padding.
  ///   - wanted: the axis's output shape, when it is given.
  private static func axis(
    _ attributes: WindowAttributes, _ index: Int, _ input: Int, _ extra: Int, _ wanted: Int?
  ) throws -> WindowAxis {
    var axis = WindowAxis(
      kernel: attributes.kernel[index], stride: attributes.strides[index],
      dilation: attributes.dilations[index], padBegin: attributes.padsBegin[index],
      padEnd: attributes.padsEnd[index], output: input)
    guard let covered = multiply(max(input, 1), axis.stride), covered < Int.max / 4 else {
      throw GraftError(
        .shapeMismatch, "\(input) positions at a stride of \(axis.stride) are too many")
    }
    // All positions that some tap reaches.
    let full = covered - axis.stride + extra + axis.extent
    let isSame = attributes.padding == .sameUpper || attributes.padding == .sameLower
    if let output = wanted ?? (isSame ? covered : nil) {
      let total = max(0, full - output)
      axis.padBegin = attributes.padding == .sameUpper ? total / 2 : total - total / 2
      axis.padEnd = total - axis.padBegin
      axis.input = wanted ?? (full - total)
    } else {
      axis.input = full - axis.padBegin - axis.padEnd
    }
    guard axis.input > 0 else {
      throw GraftError(
        .shapeMismatch,
        "nothing is left of \(full) positions on spatial axis \(index) after "
          + "\(axis.padBegin + axis.padEnd) of padding are taken off")
    }
    return axis
  }

  /// The shape of the convolution's input.
  var inputShape: Shape {
    Shape([batch, groups * inputChannels] + window.axes.map(\.input))
  }
}
