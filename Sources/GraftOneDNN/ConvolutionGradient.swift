import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// The gradients of Conv for its input and its weights.
struct ConvolutionGradient: OneDNNKernel {
  let operators = ["graft.ConvInputGradient", "graft.ConvWeightGradient"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    request.node.op == "ConvInputGradient"
      ? try inputGradient(request) : try weightGradient(request)
  }

  /// Inputs dY, W and X, which is not read.
  private func inputGradient(_ request: KernelRequest) throws -> PlannedKernel {
    let geometry = try ConvolutionGeometry(
      request.node, input: try request.required(2).type.shape,
      weights: try request.required(1).type.shape)
    let primitive = try geometry.primitive(graft_convolution_backward_data_create)
    return try primitive.planned(
      [
        primitive.operand(0, .destinationGradient), primitive.operand(1, .weights),
      ], outputs: [.sourceGradient])
  }

  /// Inputs dY, X and W, which is not read.
  private func weightGradient(_ request: KernelRequest) throws -> PlannedKernel {
    let geometry = try ConvolutionGeometry(
      request.node, input: try request.required(1).type.shape,
      weights: try request.required(2).type.shape)
    let primitive = try geometry.primitive(graft_convolution_backward_weights_create)
    return try primitive.planned(
      [
        primitive.operand(0, .destinationGradient), primitive.operand(1, .source),
      ], outputs: [.weightGradient])
  }
}

extension ConvolutionGeometry {
  /// What creates one of the primitives of a convolution.
  typealias Creation = (
    UnsafePointer<graft_convolution>?, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32

  /// A primitive without bias that chooses the layouts of its tensors.
  func primitive(_ create: Creation) throws -> Primitive {
    let source = try OneDNNLayout.any(
      [batch, groups * inputChannels] + window.axes.map(\.input))
    let weights = try OneDNNLayout.any(groupedWeights)
    let destination = try OneDNNLayout.any(outputShape.dimensions)
    return try Primitive { result in
      var description = graft_convolution()
      description.source = source.handle
      description.weights = weights.handle
      description.destination = destination.handle
      description.window = graft_window(window)
      return create(&description, result)
    }
  }
}

extension Primitive {
  /// The node's input that goes to a slot, in the layout in which the primitive reads it.
  func operand(_ input: Int, _ slot: Slot) throws -> (operand: PlannedKernel.Operand, slot: Slot) {
    (PlannedKernel.Operand(input, layout: try layout(slot).planned), slot)
  }
}
