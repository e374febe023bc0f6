import COneDNN
import GraftGraph
import GraftTensor

/// The gradients of activations where oneDNN's derivative is that of the operator everywhere.
struct ElementwiseGradient: OneDNNKernel {
  let operators = ["graft.ElementwiseGradient"]

  /// Inputs dY and the function's argument, or for Relu its value.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let activation = try activation(request.node)
    let (dy, point) = (try request.required(0), try request.required(1))
    let leading = point.layout == nil ? dy : point
    let layout = try leading.currentLayout(flat: true)
    let primitive = try activation.primitive(graft_elementwise_backward_create, layout)
    var kernel = try primitive.planned(
      [
        (PlannedKernel.Operand(0, layout: leading.layout), .destinationGradient),
        (PlannedKernel.Operand(1, layout: leading.layout), .source),
      ], outputs: [.sourceGradient])
    kernel.outputLayouts = [leading.layout]
    return kernel
  }

  private func activation(_ node: Node) throws -> Activation {
    var function = node
    function.op = try node.string("function")
    function.domain = ""
    switch function.op {
    // The value of Relu is above 0 where its argument is.
    case "Relu", "Gelu", "HardSwish": break
    case "Elu":
      guard try node.float("alpha", default: 1) == 1 else {
        throw KernelDeclined("the slope at 0 is another one unless alpha is 1")
      }
    case "Tanh", "Sigmoid": throw KernelDeclined("its derivative is computed from the value")
    default: throw KernelDeclined("oneDNN has no derivative of \(function.op)")
    }
    return try Activation(function, bounds: []).orThrow { KernelDeclined("not such a function") }
  }
}
