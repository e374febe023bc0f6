import COneDNN
import GraftGraph
import GraftTensor

/// LSTM and GRU of one layer in any direction, with the activations that ONNX gives them by default.
struct Recurrent: OneDNNKernel {
  let operators = ["LSTM", "GRU"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let layer = try RecurrentLayer(request)
    let begins = layer.hasInitialState(request)
    let ends = request.wantsOutput(1) || layer.isLSTM && request.wantsOutput(2)
    let primitive = try layer.primitive(graft_recurrent_create, begins: begins, ends: ends)
    var build = RecurrentBuild(request, layer)
    var tensors: [(slot: Slot, place: KernelSequence.Place)] = [
      (.source, build.operand(0)), (.bias, try build.bias()),
      (.weights, try build.weights(1, inner: layer.inputs, primitive.layout(.weights))),
      (
        .weightsHidden,
        try build.weights(2, inner: layer.hidden, primitive.layout(.weightsHidden))
      ),
    ]
    if begins {
      tensors.append((.sourceHidden, build.state(5)))
      if layer.isLSTM { tensors.append((.sourceCell, build.state(6))) }
    }
    if ends {
      tensors.append((.destinationHidden, build.output(1, layer.stateCount)))
      if layer.isLSTM { tensors.append((.destinationCell, build.output(2, layer.stateCount))) }
    }
    let isSplit = layer.directions == 2 && request.wantsOutput(0)
    let result =
      isSplit
      ? build.sequence.scratch(byteCount: [Float].byteCount(layer.resultCount))
      : build.output(0, layer.resultCount)
    try build.sequence.run(primitive, tensors + [(.destination, result)])
    if isSplit { build.split(result, .output(0)) }
    return build.sequence.planned(
      build.operands, outputLayouts: request.outputs.map { _ in nil })
  }
}

/// The sizes of an LSTM or GRU that oneDNN can compute.
struct RecurrentLayer {
  let kind: graft_recurrent_kind
  let direction: graft_direction
  let directions: Int
  let steps: Int
  let batch: Int
  let inputs: Int
  let hidden: Int

  /// - Throws: `KernelDeclined` for what oneDNN does not have.
  init(_ request: KernelRequest) throws {
    let node = request.node
    let (x, r) = (try request.required(0).type.shape, try request.required(2).type.shape)
    guard x.rank == 3, r.rank == 3 else { throw KernelDeclined("the ranks are not 3") }
    (directions, hidden) = (r[0], r[2])
    (steps, batch, inputs) = (x[0], x[1], x[2])
    switch try node.string("direction", default: "forward") {
    case "forward": direction = GRAFT_DIRECTION_FORWARD
    case "reverse": direction = GRAFT_DIRECTION_REVERSE
    default: direction = GRAFT_DIRECTION_BOTH
    }
    if node.op.hasPrefix("LSTM") {
      kind = GRAFT_RECURRENT_LSTM
    } else {
      let isAfter = try node.int("linear_before_reset", default: 0) != 0
      kind = isAfter ? GRAFT_RECURRENT_GRU_RESET_AFTER : GRAFT_RECURRENT_GRU
    }
    guard try node.int("layout", default: 0) == 0 else { throw KernelDeclined("layout is 1") }
    guard !node.has("clip"), !node.has("graft_cell_clip") else { throw KernelDeclined("clip") }
    guard kind != GRAFT_RECURRENT_LSTM || request.input(7) == nil else {
      throw KernelDeclined("peepholes")
    }
    if let lengths = request.input(4) {
      guard let ints = lengths.constant?.ints, ints.allSatisfy({ $0 == steps }) else {
        throw KernelDeclined("sequence_lens")
      }
    }
    let standard =
      kind == GRAFT_RECURRENT_LSTM ? ["sigmoid", "tanh", "tanh"] : ["sigmoid", "tanh"]
    let all = [[String]](repeating: standard, count: directions).flatMap { $0 }
    guard try node.strings("activations", default: all).map({ $0.lowercased() }) == all else {
      throw KernelDeclined("other activations than the default")
    }
  }

  var isLSTM: Bool { kind == GRAFT_RECURRENT_LSTM }
  var gates: Int { isLSTM ? 4 : 3 }
  /// Which of ONNX's gates is each of oneDNN's.
  var gateOrder: [Int] { isLSTM ? [0, 2, 3, 1] : [0, 1, 2] }
  /// Rows of the bias: when the reset gate acts late, the candidate has two.
  var biasRows: Int { kind == GRAFT_RECURRENT_GRU ? 3 : 4 }
  var stateCount: Int { directions * batch * hidden }
  var resultCount: Int { steps * stateCount }

  func hasInitialState(_ request: KernelRequest) -> Bool {
    request.input(5) != nil || isLSTM && request.input(6) != nil
  }

  /// - Parameters:
  ///   - begins: whether there are states before the first step.
  ///   - ends: whether those after the last step are wanted, or have gradients.
  func primitive(
    _ create: (UnsafePointer<graft_recurrent>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    begins: Bool, ends: Bool, isTraining: Bool = false
  ) throws -> Primitive {
    let source = try OneDNNLayout([steps, batch, inputs])
    let state = try OneDNNLayout([1, directions, batch, hidden])
    let weights = try OneDNNLayout.any([1, directions, inputs, gates, hidden])
    let weightsHidden = try OneDNNLayout.any([1, directions, hidden, gates, hidden])
    let bias = try OneDNNLayout([1, directions, biasRows, hidden])
    let destination = try OneDNNLayout([steps, batch, directions * hidden])
    return try Primitive { result in
      var description = graft_recurrent()
      description.kind = kind
      description.direction = direction
      description.source = source.handle
      description.source_hidden = begins ? state.handle : nil
      description.source_cell = begins && isLSTM ? state.handle : nil
      description.weights = weights.handle
      description.weights_hidden = weightsHidden.handle
      description.bias = bias.handle
      description.destination = destination.handle
      description.destination_hidden = ends ? state.handle : nil
      description.destination_cell = ends && isLSTM ? state.handle : nil
      description.training = isTraining ? 1 : 0
      return create(&description, result)
    }
  }
}
