import COneDNN
import GraftGraph
import GraftTensor

/// Softmax along the last axis. LogSoftmax stays portable: oneDNN's logarithm is off by 3e-6.
struct Softmax: OneDNNKernel {
  let operators = ["Softmax"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard request.followers.isEmpty else { throw KernelDeclined("it stands alone") }
    let shape = try request.required(0).type.shape
    let axis = try shape.axis(try request.node.int("axis", default: -1))
    guard axis == shape.rank - 1 else { throw KernelDeclined("not the last axis") }
    let size = shape[axis]
    let layout = try OneDNNLayout([shape.elementCount / size, size])
    let primitive = try Primitive { result in
      var description = graft_softmax()
      description.axis = 1
      description.layout = layout.handle
      return graft_softmax_create(&description, result)
    }
    return try primitive.planned(
      [(PlannedKernel.Operand(0), .source)], outputs: [.destination])
  }
}
