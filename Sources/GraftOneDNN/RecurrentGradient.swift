import COneDNN
import GraftGraph
import GraftTensor

/// The gradients of LSTM and GRU for all their inputs; the forward pass is computed again.
struct RecurrentGradient: OneDNNKernel {
  let operators = ["graft.LSTMGradient", "graft.GRUGradient"]

  private typealias Tensors = [(slot: Slot, place: KernelSequence.Place)]

  /// Inputs: those of the operator, eight or six, then the gradients of its outputs. Outputs: the
  /// gradients of X, W, R, B and the initial states.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let layer = try RecurrentLayer(request)
    let first = layer.isLSTM ? 8 : 6
    let ends = [first + 1, first + 2].contains { request.input($0) != nil }
    guard !request.wantsOutput(6) else { throw KernelDeclined("peepholes") }
    // Without initial states oneDNN 2.6 gives a wrong gradient of LSTM's R: zeros stand for them.
    let forward = try layer.primitive(
      graft_recurrent_create, begins: true, ends: ends, isTraining: true)
    let backward = try layer.primitive(
      graft_recurrent_backward_create, begins: true, ends: ends, isTraining: true)

    var build = RecurrentBuild(request, layer)
    let shared = try run(forward, &build, ends: ends)
    var tensors = shared
    tensors += try weights(of: backward, &build)
    let results = try gradients(of: backward, &build)
    tensors += results
    tensors.append((.destinationGradient, gradientOfResult(first, &build)))
    if ends {
      tensors.append((.destinationHiddenGradient, build.state(first + 1)))
      if layer.isLSTM { tensors.append((.destinationCellGradient, build.state(first + 2))) }
    }
    try build.sequence.run(backward, tensors)
    try finish(backward, results, &build)
    return build.sequence.planned(
      build.operands, outputLayouts: request.outputs.map { _ in nil })
  }

  /// Adds the forward pass.
  ///
  /// - Returns: the tensors that the way back reads too.
  private func run(
    _ forward: Primitive, _ build: inout RecurrentBuild, ends: Bool
  ) throws -> Tensors {
    let layer = build.layer
    func scratch(_ count: Int) -> KernelSequence.Place {
      build.sequence.scratch(byteCount: [Float].byteCount(count))
    }
    var shared: Tensors = [
      (.source, build.operand(0)), (.bias, try build.bias()),
      (.destination, scratch(layer.resultCount)),
      (
        .workspace,
        build.sequence.scratch(byteCount: try forward.layout(.workspace).byteCount)
      ),
    ]
    shared.append((.sourceHidden, build.state(5)))
    if layer.isLSTM { shared.append((.sourceCell, build.state(6))) }
    if ends {
      shared.append((.destinationHidden, scratch(layer.stateCount)))
      if layer.isLSTM { shared.append((.destinationCell, scratch(layer.stateCount))) }
    }
    let weights = try weights(of: forward, &build)
    try build.sequence.run(forward, shared + weights)
    return shared
  }

  private func weights(of primitive: Primitive, _ build: inout RecurrentBuild) throws -> Tensors {
    [
      (
        .weights,
        try build.weights(1, inner: build.layer.inputs, primitive.layout(.weights))
      ),
      (
        .weightsHidden,
        try build.weights(2, inner: build.layer.hidden, primitive.layout(.weightsHidden))
      ),
    ]
  }

  /// The gradient of Y as oneDNN reads it.
  private func gradientOfResult(_ input: Int, _ build: inout RecurrentBuild)
    -> KernelSequence.Place
  {
    guard build.request.input(input) != nil else { return build.zeros(build.layer.resultCount) }
    let dy = build.operand(input)
    guard build.layer.directions == 2 else { return dy }
    let joined = build.sequence.scratch(byteCount: [Float].byteCount(build.layer.resultCount))
    build.join(dy, joined)
    return joined
  }

  /// Where the primitive puts its results. To those of the parameters it adds.
  private func gradients(of backward: Primitive, _ build: inout RecurrentBuild)
    throws -> Tensors
  {
    let layer = build.layer
    func sum(_ slot: Slot) throws -> KernelSequence.Place {
      build.zeros(try backward.layout(slot).byteCount / MemoryLayout<Float>.stride)
    }
    var results: Tensors = [
      (.weightGradient, try sum(.weightGradient)),
      (.weightsHiddenGradient, try sum(.weightsHiddenGradient)),
      (.biasGradient, try sum(.biasGradient)),
      (.sourceGradient, build.output(0, layer.steps * layer.batch * layer.inputs)),
    ]
    results.append((.sourceHiddenGradient, build.output(4, layer.stateCount)))
    if layer.isLSTM {
      results.append((.sourceCellGradient, build.output(5, layer.stateCount)))
    }
    return results
  }

  /// Adds the steps that bring the gradients of the parameters into ONNX's order.
  private func finish(
    _ backward: Primitive, _ results: Tensors, _ build: inout RecurrentBuild
  ) throws {
    let (request, layer) = (build.request, build.layer)
    if request.wantsOutput(1) {
      let layout = try backward.layout(.weightGradient)
      try RecurrentWeights(layer, inner: layer.inputs, target: layout)
        .unpack(results[0].place, into: .output(1), &build.sequence)
    }
    if request.wantsOutput(2) {
      let layout = try backward.layout(.weightsHiddenGradient)
      try RecurrentWeights(layer, inner: layer.hidden, target: layout)
        .unpack(results[1].place, into: .output(2), &build.sequence)
    }
    if request.wantsOutput(3) { build.unpackBias(results[2].place, .output(3)) }
  }
}
