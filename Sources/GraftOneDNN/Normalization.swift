import COneDNN
import GraftGraph
import GraftTensor

/// LayerNormalization, with the mean and inverse standard deviation of each row when they are
/// wanted.
struct Normalization: OneDNNKernel {
  let operators = ["LayerNormalization"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0).type.shape
    let rows = try NormalizedRows(request.node, x)
    let shift = request.input(2)
    try rows.requireParameter(try request.required(1), of: x)
    if let shift { try rows.requireParameter(shift, of: x) }
    let wantsStatistics = request.wantsOutput(1) || request.wantsOutput(2)
    let primitive = try rows.primitive(graft_layer_normalization_create) { description in
      description.has_scale = 1
      description.has_shift = shift == nil ? 0 : 1
      description.training = wantsStatistics ? 1 : 0
    }
    let operands = (shift == nil ? [0, 1] : [0, 1, 2]).map { PlannedKernel.Operand($0) }
    var tensors: [(slot: Slot, place: KernelSequence.Place)] = [
      (.source, .operand(0)), (.scale, .operand(1)), (.destination, .output(0)),
    ]
    if shift != nil { tensors.append((.shift, .operand(2))) }
    var sequence = KernelSequence()
    if wantsStatistics {
      let byteCount = [Float].byteCount(rows.count)
      let variance = sequence.output(2, of: request, byteCount: byteCount)
      tensors.append((.mean, sequence.output(1, of: request, byteCount: byteCount)))
      tensors.append((.variance, variance))
      try sequence.run(primitive, tensors)
      sequence.run { memory in
        let factor = try memory.floats(variance)
        for row in 0..<rows.count {
          factor[row] = 1 / (factor[row] + rows.epsilon).squareRoot()
        }
      }
    } else {
      try sequence.run(primitive, tensors)
    }
    return sequence.planned(
      operands, outputLayouts: request.outputs.map { _ in nil })
  }
}
