import COneDNN
import GraftGraph
import GraftTensor

/// The gradient of LayerNormalization for its data and scale.
struct LayerNormalizationGradient: OneDNNKernel {
  let operators = ["graft.LayerNormalizationGradient"]

  /// Inputs dY, X and scale; outputs dX and dscale.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(1).type.shape
    let rows = try NormalizedRows(request.node, x)
    try rows.requireParameter(try request.required(2), of: x)
    let forward = try rows.primitive(graft_layer_normalization_create) { $0.training = 1 }
    let backward = try rows.primitive(graft_layer_normalization_backward_create) {
      $0.has_scale = 1
      $0.training = 1
    }
    var sequence = KernelSequence()
    let mean = sequence.scratch(byteCount: [Float].byteCount(rows.count))
    let variance = sequence.scratch(byteCount: [Float].byteCount(rows.count))
    let dx = sequence.output(0, of: request, byteCount: [Float].byteCount(x.elementCount))
    let dscale = sequence.output(1, of: request, byteCount: [Float].byteCount(rows.size))
    // The statistics; what else this makes is written over by the next step.
    try sequence.run(
      forward,
      [(.source, .operand(1)), (.destination, dx), (.mean, mean), (.variance, variance)])
    try sequence.run(
      backward,
      [
        (.source, .operand(1)), (.mean, mean), (.variance, variance), (.scale, .operand(2)),
        (.destinationGradient, .operand(0)), (.sourceGradient, dx), (.scaleGradient, dscale),
      ])
    return sequence.planned(
      (0..<3).map { PlannedKernel.Operand($0) }, outputLayouts: request.outputs.map { _ in nil })
  }
}
