import COneDNN
import GraftGraph
import GraftTensor

/// Activations that take more than a comparison, in whatever layout their input has, and the others
/// where padding keeps the portable kernels from working in that layout.
struct Elementwise: OneDNNKernel {
  let operators = Self.functions + Self.comparisons
  static let functions = ["Sigmoid", "Tanh", "HardSwish", "Elu", "Gelu"]
  private static let comparisons = ["Relu", "LeakyRelu"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0)
    if Self.comparisons.contains(request.node.op), x.layout?.isDense ?? true {
      throw KernelDeclined("the portable kernel is as good")
    }
    guard let activation = try Activation(request.node, bounds: request.inputs) else {
      throw KernelDeclined("not such a function")
    }
    guard request.followers.isEmpty else { throw KernelDeclined("it stands alone") }
    let layout = try x.currentLayout(flat: true)
    let primitive = try activation.primitive(graft_elementwise_create, layout)
    var kernel = try primitive.planned(
      [(PlannedKernel.Operand(0, layout: x.layout), .source)], outputs: [.destination])
    kernel.outputLayouts = [x.layout]
    return kernel
  }
}

extension Activation {
  /// - Parameter create: what makes the primitive or that of the gradient.
  func primitive(
    _ create: (UnsafePointer<graft_elementwise>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    _ layout: OneDNNLayout
  ) throws -> Primitive {
    try Primitive { result in
      var description = graft_elementwise()
      description.kind = kind
      description.alpha = alpha
      description.beta = beta
      description.layout = layout.handle
      return create(&description, result)
    }
  }
}
