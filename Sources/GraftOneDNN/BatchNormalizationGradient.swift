import COneDNN
import GraftGraph
import GraftTensor

/// The gradient of BatchNormalization for its data, scale and bias.
struct BatchNormalizationGradient: OneDNNKernel {
  let operators = ["graft.BatchNormalizationGradient"]

  /// Inputs dY, X, scale, mean and variance; outputs dX, dscale and dbias.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let (dy, x) = (try request.required(0), try request.required(1))
    let leading = x.layout == nil ? dy : x
    let isTraining = try request.node.int("training_mode", default: 0) != 0
    let layout = try leading.channelLayout()
    var description = graft_normalization()
    description.layout = layout.handle
    description.epsilon = try request.node.float("epsilon", default: 1e-5)
    description.uses_given_statistics = isTraining ? 0 : 1
    description.training = 1
    let forward =
      isTraining ? try Primitive { graft_batch_normalization_create(&description, $0) } : nil
    description.has_scale = 1
    description.has_shift = 1
    let backward = try Primitive { graft_batch_normalization_backward_create(&description, $0) }

    var sequence = KernelSequence()
    let byteCount = [Float].byteCount(layout.dimensions[1])
    let dx = sequence.output(0, of: request, byteCount: layout.byteCount)
    let dscale = sequence.output(1, of: request, byteCount: byteCount)
    let dbias = sequence.output(2, of: request, byteCount: byteCount)
    var mean = KernelSequence.Place.operand(3)
    var variance = KernelSequence.Place.operand(4)
    if let forward {
      mean = sequence.scratch(byteCount: byteCount)
      variance = sequence.scratch(byteCount: byteCount)
      // The statistics; what else this makes is written over by the next step.
      try sequence.run(
        forward,
        [(.source, .operand(1)), (.destination, dx), (.mean, mean), (.variance, variance)])
    }
    // No gradient depends on the shift; where it must be given, any numbers do.
    let shift: [(slot: Slot, place: KernelSequence.Place)] =
      backward.takes(.shift) ? [(.shift, .operand(2))] : []
    try sequence.run(
      backward,
      [
        (.source, .operand(1)), (.mean, mean), (.variance, variance), (.scale, .operand(2)),
        (.destinationGradient, .operand(0)), (.sourceGradient, dx), (.scaleGradient, dscale),
        (.shiftGradient, dbias),
      ] + shift)
    return sequence.planned(
      (0..<5).map { PlannedKernel.Operand($0, layout: $0 < 2 ? leading.layout : nil) },
      outputLayouts: request.outputs.indices.map { $0 == 0 ? leading.layout : nil })
  }
}
