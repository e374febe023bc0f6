import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sizes of a convolution: images, groups of channels, and the window.
package struct ConvolutionGeometry {
  package let batch: Int
  package let groups: Int
  /// Channels of the input in one group.
  package let inputChannels: Int
  /// Channels of the output in one group.
  package let outputChannels: Int
  package let window: SlidingWindow

  package init(
    batch: Int, groups: Int, inputChannels: Int, outputChannels: Int, window: SlidingWindow
  ) {
    self.batch = batch
    self.groups = groups
    self.inputChannels = inputChannels
    self.outputChannels = outputChannels
    self.window = window
  }

  /// The geometry of a Conv node.
  ///
  /// - Parameters:
  ///   - input: [batch, channels, spatial dimensions].
  ///   - weights: [output channels, channels / groups, taps].
  package init(_ node: Node, input: Shape, weights: Shape) throws {
    groups = try Self.groups(node)
    let kernel = try Self.kernel(node, input: input, weights: weights)
    guard multiply(weights[1], groups) == input[1] else {
      throw GraftError(
        .shapeMismatch,
        "the input has \(input[1]) channels; weights of shape \(weights) in \(groups) groups take "
          + "\(multiply(weights[1], groups).map(String.init) ?? "too many")")
    }
    guard weights[0] % groups == 0 else {
      throw GraftError(
        .shapeMismatch, "\(weights[0]) output channels cannot be divided into \(groups) groups")
    }
    batch = input[0]
    inputChannels = weights[1]
    outputChannels = weights[0] / groups
    window = try WindowAttributes(node, kernel: kernel).window(
      over: Array(input.dimensions.dropFirst(2)))
  }

  /// Attribute `group`.
  package static func groups(_ node: Node) throws -> Int {
    let groups = try node.int("group", default: 1)
    guard groups >= 1 else {
      throw GraftError(.damaged, "attribute 'group' is \(groups); it must be at least 1")
    }
    return groups
  }

  /// The taps along each axis: those of the weights, which attribute `kernel_shape` must repeat.
  package static func kernel(_ node: Node, input: Shape, weights: Shape) throws -> [Int] {
    guard (3...5).contains(input.rank) else {
      throw GraftError(
        input.rank > 5 ? .unsupported : .shapeMismatch,
        "input 0 has shape \(input); a convolution takes one to three spatial axes behind batch "
          + "and channels")
    }
    guard weights.rank == input.rank else {
      throw GraftError(
        .shapeMismatch,
        "weights of shape \(weights) do not fit an input of shape \(input): the ranks differ")
    }
    let kernel = Array(weights.dimensions.dropFirst(2))
    let named = try node.ints("kernel_shape", default: kernel)
    guard named == kernel else {
      throw GraftError(
        .shapeMismatch,
        "attribute 'kernel_shape' is \(named); the weights of shape \(weights) say \(kernel)")
    }
    return kernel
  }

  package var outputShape: Shape {
    Shape([batch, groups * outputChannels] + window.outputDimensions)
  }

  /// Elements of the weights that one output channel reads.
  package var innerCount: Int { inputChannels * window.tapCount }

  /// Whether so few channels meet that a product of matrices would be mostly padding.
  package var isDepthwise: Bool { groups > 1 && inputChannels == 1 && outputChannels < 4 }

  /// The convolution that has this one's inputs as outputs and steps through its outputs; for unit
  /// strides, where its weights are this one's mirrored.
  package var mirrored: ConvolutionGeometry {
    let axes = window.axes.map { axis in
      WindowAxis(
        input: axis.output, kernel: axis.kernel, stride: 1, dilation: axis.dilation,
        padBegin: axis.extent - 1 - axis.padBegin,
        padEnd: axis.input - axis.output + axis.padBegin, output: axis.input)
    }
    return ConvolutionGeometry(
      batch: batch, groups: groups, inputChannels: outputChannels, outputChannels: inputChannels,
      window: SlidingWindow(axes))
  }
}

/// The product; nil on overflow.
func multiply(_ a: Int, _ b: Int) -> Int? {
  let (product, overflow) = a.multipliedReportingOverflow(by: b)
  return overflow ? nil : product
}
