import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// Conv with its bias, and activations, additions and products behind it.
struct Convolution: OneDNNKernel {
  let operators = ["Conv"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0)
    let w = try request.required(1)
    let y = try request.requiredOutput(0)
    let geometry = try ConvolutionGeometry(
      request.node, input: x.type.shape, weights: w.type.shape)
    let epilogue = try Epilogue(request.followers, destination: y.shape.dimensions)
    let source = try OneDNNLayout.any(x.type.shape.dimensions)
    let weights = try OneDNNLayout.any(geometry.groupedWeights)
    let destination = try OneDNNLayout.any(y.shape.dimensions)
    let bias = try request.input(2).map { try OneDNNLayout($0.type.shape.dimensions) }
    let primitive = try Primitive { result in
      var description = graft_convolution()
      description.source = source.handle
      description.weights = weights.handle
      description.bias = bias?.handle
      description.destination = destination.handle
      description.window = graft_window(geometry.window)
      description.post_operations = epilogue.handle
      return graft_convolution_create(&description, result)
    }
    var operands: [(operand: PlannedKernel.Operand, slot: Slot)] = [
      (PlannedKernel.Operand(0, layout: try primitive.layout(.source).planned), .source),
      (PlannedKernel.Operand(1, layout: try primitive.layout(.weights).planned), .weights),
    ]
    if bias != nil { operands.append((PlannedKernel.Operand(2), .bias)) }
    var kernel = try primitive.planned(operands + epilogue.operands, outputs: [.destination])
    kernel.absorb(epilogue)
    return kernel
  }
}

extension ConvolutionGeometry {
  /// The dimensions of the weights as oneDNN names them: with groups, these come first.
  var groupedWeights: [Int] {
    let taps = window.axes.map(\.kernel)
    return groups == 1
      ? [outputChannels, inputChannels] + taps : [groups, outputChannels, inputChannels] + taps
  }
}

extension graft_window {
  init(_ window: SlidingWindow) {
    self.init()
    func triple(_ value: (WindowAxis) -> Int) -> (Int64, Int64, Int64) {
      let values = window.axes.map { Int64(value($0)) } + [0, 0, 0]
      return (values[0], values[1], values[2])
    }
    strides = triple(\.stride)
    dilations = triple(\.dilation)
    padding_begin = triple(\.padBegin)
    // What the last window needs; a stride may leave positions at the end untouched.
    padding_end = triple { axis in
      max(0, (axis.output - 1) * axis.stride + axis.extent - axis.input - axis.padBegin)
    }
  }
}
