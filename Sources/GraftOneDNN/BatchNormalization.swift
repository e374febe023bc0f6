import COneDNN
import GraftGraph
import GraftTensor

/// BatchNormalization by given statistics or by those of the batch, with a Relu behind it, in the
/// layout that the input has.
struct BatchNormalization: OneDNNKernel {
  let operators = ["BatchNormalization"]

  /// Inputs X, scale, bias, mean and variance.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0)
    _ = try request.requiredOutput(0)
    let isTraining = try request.node.int("training_mode", default: 0) != 0
    let epsilon = try request.node.float("epsilon", default: 1e-5)
    let layout = try x.channelLayout()
    let epilogue = try Epilogue(
      Array(request.followers.prefix(1)), destination: x.type.shape.dimensions)
    guard epilogue.operands.isEmpty, epilogue.accumulated == nil else {
      throw KernelDeclined("only Relu can follow")
    }
    let primitive = try Primitive { result in
      var description = graft_normalization()
      description.layout = layout.handle
      description.epsilon = epsilon
      description.has_scale = 1
      description.has_shift = 1
      description.uses_given_statistics = isTraining ? 0 : 1
      description.training = isTraining ? 1 : 0
      description.post_operations = epilogue.handle
      return graft_batch_normalization_create(&description, result)
    }
    var sequence = KernelSequence()
    if isTraining {
      try train(&sequence, primitive, request, channels: layout.dimensions[1])
    } else {
      try sequence.run(
        primitive, Self.tensors + [(.mean, .operand(3)), (.variance, .operand(4))])
    }
    var kernel = sequence.planned(
      (0..<5).map { PlannedKernel.Operand($0, layout: $0 == 0 ? x.layout : nil) },
      outputLayouts: request.outputs.indices.map { $0 == 0 ? x.layout : nil })
    kernel.absorb(epilogue)
    return kernel
  }

  /// What both modes read and write.
  private static let tensors: [(slot: Slot, place: KernelSequence.Place)] = [
    (.source, .operand(0)), (.scale, .operand(1)), (.shift, .operand(2)),
    (.destination, .output(0)),
  ]

  /// Adds the primitive, and behind it what makes running statistics of the batch's.
  private func train(
    _ sequence: inout KernelSequence, _ primitive: Primitive, _ request: KernelRequest,
    channels: Int
  ) throws {
    let momentum = Double(try request.node.float("momentum", default: 0.9))
    let byteCount = [Float].byteCount(channels)
    let statistics = [1, 2].map { sequence.output($0, of: request, byteCount: byteCount) }
    try sequence.run(
      primitive, Self.tensors + [(.mean, statistics[0]), (.variance, statistics[1])])
    for (place, input) in zip(statistics, [3, 4]) {
      sequence.run { memory in
        let statistic = try memory.floats(place)
        let old = try memory.floats(.operand(input))
        for channel in 0..<channels {
          statistic[channel] = Float(
            momentum * Double(old[channel]) + (1 - momentum) * Double(statistic[channel]))
        }
      }
    }
  }
}

extension PlannedValue {
  /// The layout it lies in, seen with channels as dimension 1 and at least two dimensions behind
  /// them: oneDNN normalizes fewer slowly or not at all.
  func channelLayout() throws -> OneDNNLayout {
    guard type.shape.rank >= 2 else { throw KernelDeclined("a vector") }
    let own = try currentLayout()
    var dimensions = own.dimensions
    guard dimensions.count < 4 else { return own }
    while dimensions.count < 4 { dimensions.insert(1, at: 2) }
    if own.isRowMajor { return try OneDNNLayout(dimensions) }
    return try own.channelBlock.map { try .blocked(dimensions, block: $0) } ?? own
  }
}
