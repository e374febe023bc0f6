import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// MaxPool and AveragePool, and their global forms, in the layout that the input has.
struct Pooling: OneDNNKernel {
  let operators = ["MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard !request.wantsOutput(1) else { throw KernelDeclined("indices are wanted") }
    let x = try request.required(0)
    let y = try request.requiredOutput(0)
    let window = try window(request.node, x.type.shape)
    let epilogue = try Epilogue(request.followers, destination: y.shape.dimensions)
    guard epilogue.accumulated == nil else { throw KernelDeclined("nothing can be added to it") }
    let source = try x.currentLayout()
    let destination = try OneDNNLayout.any(y.shape.dimensions)
    let kind = try kind(request.node)
    let primitive = try Primitive { result in
      var description = graft_pooling()
      description.kind = kind
      description.source = source.handle
      description.destination = destination.handle
      let sizes = window.axes.map { Int64($0.kernel) } + [0, 0, 0]
      description.size = (sizes[0], sizes[1], sizes[2])
      description.window = graft_window(window)
      description.post_operations = epilogue.handle
      return graft_pooling_create(&description, result)
    }
    var kernel = try primitive.planned(
      [(PlannedKernel.Operand(0, layout: source.planned), .source)] + epilogue.operands,
      outputs: [.destination])
    kernel.absorb(epilogue)
    return kernel
  }

  private func kind(_ node: Node) throws -> graft_pooling_kind {
    if node.op.hasSuffix("MaxPool") { return GRAFT_POOLING_MAXIMUM }
    return try node.int("count_include_pad", default: 0) == 0
      ? GRAFT_POOLING_AVERAGE_WITHOUT_PADDING : GRAFT_POOLING_AVERAGE_WITH_PADDING
  }

  private func window(_ node: Node, _ input: Shape) throws -> SlidingWindow {
    guard (3...5).contains(input.rank) else { throw KernelDeclined("not one to three axes") }
    let spatial = Array(input[2...])
    let isGlobal = node.op.hasPrefix("Global")
    if try node.int("ceil_mode", default: 0) != 0,
      try node.int("count_include_pad", default: 0) != 0
    {
      throw KernelDeclined("ceil_mode, where padding counts")
    }
    let kernel = isGlobal ? spatial : try node.ints("kernel_shape")
    return try WindowAttributes(node, kernel: kernel).window(over: spatial)
  }
}
