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
    let geometry = try PooledWindows(request.node, input: x.type.shape)
    guard Array(x.type.shape[..<2]) + geometry.window.outputDimensions == dy.type.shape.dimensions
    else { throw KernelDeclined("the gradient has another shape than the result") }
    let free = try OneDNNLayout.any(dy.type.shape.dimensions)
    let forward = try geometry.primitive(graft_pooling_create, source, free) { $0.training = 1 }
    let destination = try forward.layout(.destination)
    let backward = try geometry.primitive(graft_pooling_backward_create, source, destination)
    guard geometry.kind == GRAFT_POOLING_MAXIMUM else {
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
}
