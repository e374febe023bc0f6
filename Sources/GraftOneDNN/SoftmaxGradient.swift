import COneDNN
import GraftGraph
import GraftTensor

/// The gradients of Softmax and LogSoftmax along the last axis, from the result.
struct SoftmaxGradient: OneDNNKernel {
  let operators = ["graft.SoftmaxGradient", "graft.LogSoftmaxGradient"]

  /// Inputs dY and Y.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let shape = try request.required(1).type.shape
    let axis = try shape.axis(try request.node.int("axis", default: -1))
    guard axis == shape.rank - 1 else { throw KernelDeclined("not the last axis") }
    let size = shape[axis]
    let layout = try OneDNNLayout([shape.elementCount / size, size])
    let isLogarithmic = request.node.op == "LogSoftmaxGradient"
    let primitive = try Primitive { result in
      var description = graft_softmax()
      description.is_logarithmic = isLogarithmic ? 1 : 0
      description.axis = 1
      description.layout = layout.handle
      return graft_softmax_backward_create(&description, result)
    }
    return try primitive.planned(
      [
        (PlannedKernel.Operand(0), .destinationGradient), (PlannedKernel.Operand(1), .destination),
      ], outputs: [.sourceGradient])
  }
}
