import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// The gradients of MaxPool and AveragePool, and of their global forms, in the layout that the
/// input has.
struct PoolingGradient: OneDNNKernel {
  let operators = [
    "graft.MaxPoolGradient", "graft.AveragePoolGradient", "graft.GlobalMaxPoolGradient",
    "graft.GlobalAveragePoolGradient",
  ]

  /// Inputs dY and X, of which means need the shape only.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let dy = try request.required(0)
    let x = try request.required(1)
    let source = try x.currentLayout()
    let window = try window(request.node, x.type.shape)
    guard [x.type.shape[0], x.type.shape[1]] + window.outputDimensions == dy.type.shape.dimensions
    else { throw KernelDeclined("the gradient has another shape than the result") }
    let kind = try kind(request.node, window)
    var description = graft_pooling()
    description.kind = kind
    let sizes = window.axes.map { Int64($0.kernel) } + [0, 0, 0]
    description.size = (sizes[0], sizes[1], sizes[2])
    description.window = graft_window(window)
    description.training = 1
    description.source = source.handle
    let free = try OneDNNLayout.any(dy.type.shape.dimensions)
    description.destination = free.handle
    let forward = try withExtendedLifetime(free) {
      try Primitive { graft_pooling_create(&description, $0) }
    }
    let destination = try forward.layout(.destination)
    description.destination = destination.handle
    let backward = try Primitive { graft_pooling_backward_create(&description, $0) }
    guard kind == GRAFT_POOLING_MAXIMUM else {
      return try backward.planned(
        [(PlannedKernel.Operand(0, layout: destination.planned), .destinationGradient)],
        outputs: [.sourceGradient])
    }
    // Where the maxima are is found anew.
    var sequence = KernelSequence()
    let workspace = sequence.scratch(byteCount: try forward.layout(.workspace).byteCount)
    let result = sequence.scratch(byteCount: destination.byteCount)
    try sequence.run(
      forward,
      [(.source, .operand(1)), (.destination, result), (.workspace, workspace)])
    try sequence.run(
      backward,
      [
        (.destinationGradient, .operand(0)), (.workspace, workspace),
        (.sourceGradient, .output(0)),
      ])
    return sequence.planned(
      [
        PlannedKernel.Operand(0, layout: destination.planned),
        PlannedKernel.Operand(1, layout: source.planned),
      ], outputLayouts: [source.planned])
  }

  private func kind(_ node: Node, _ window: SlidingWindow) throws -> graft_pooling_kind {
    if node.op.contains("MaxPool") { return GRAFT_POOLING_MAXIMUM }
    if try node.int("count_include_pad", default: 0) == 0 {
      return GRAFT_POOLING_AVERAGE_WITHOUT_PADDING
    }
    let staysInside = window.axes.allSatisfy { axis in
      axis.start(axis.output - 1) + axis.extent <= axis.input + axis.padEnd
    }
    guard staysInside else { throw KernelDeclined("ceil_mode lets windows leave the padding") }
    return GRAFT_POOLING_AVERAGE_WITH_PADDING
  }

  private func window(_ node: Node, _ input: Shape) throws -> SlidingWindow {
    guard (3...5).contains(input.rank) else { throw KernelDeclined("not one to three axes") }
    let spatial = Array(input[2...])
    let kernel = node.op.hasPrefix("Global") ? spatial : try node.ints("kernel_shape")
    guard kernel.count == spatial.count else { throw KernelDeclined("kernel_shape does not fit") }
    return try WindowAttributes(node, kernel: kernel).window(over: spatial)
  }
}
