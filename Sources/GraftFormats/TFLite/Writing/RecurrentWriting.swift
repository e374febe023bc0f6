import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let recurrentLayers: [String: Rule] = ["LSTM": lstm]

  /// Step by step: TensorFlow Lite's own recurrent operators keep their state from one run to the
  /// next.
  private static let lstm: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    guard try node.int("layout", default: 0) == 0, !context.open(input).contains(0),
      shape[0] <= LSTMSteps.largestCount
    else {
      throw GraftError(
        .unsupported,
        "the number of steps must be known, and \(LSTMSteps.largestCount) at most")
    }
    guard context.input(4, of: node) == nil, context.input(7, of: node) == nil,
      !["activations", "clip", "input_forget"].contains(where: node.has)
    else {
      throw GraftError(
        .unsupported, "lengths of sequences, peepholes, other activations or clipping")
    }
    let direction = try node.string("direction", default: "forward")
    let backwards = direction == "bidirectional" ? [false, true] : [direction == "reverse"]
    var results: [LSTMSteps.Result] = []
    for (index, isBackwards) in backwards.enumerated() {
      let steps = try LSTMSteps(node, direction: index, isBackwards: isBackwards, &context)
      results.append(try steps.run(&context))
    }
    try LSTMSteps.join(results, node, &context)
  }
}

/// One direction of an LSTM layer.
private struct LSTMSteps {
  static let largestCount = 512

  struct Result {
    /// One for each step, [batch, hidden].
    var outputs: [Int]
    var cell: Int
    let isBackwards: Bool
  }

  private let name: String
  private let stepCount: Int
  private let batch: Int
  private let hidden: Int
  private let openBatch: Set<Int>
  private let isBackwards: Bool
  /// Products of all steps' inputs with the weights, [1, batch, 4 * hidden] each.
  private let projections: [Int]
  private let recurrence: Int
  private let noBias: Int
  private var initialHidden: Int?
  private var initialCell: Int?

  init(
    _ node: Node, direction: Int, isBackwards: Bool, _ context: inout WritingContext
  ) throws {
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let gates = try context.constantInput(1, of: node)
    let recurrent = try context.constantInput(2, of: node)
    name = node.outputs.first { !$0.isEmpty } ?? "lstm"
    stepCount = shape[0]
    batch = shape[1]
    hidden = recurrent.shape[2]
    openBatch = context.open(input).contains(1) ? [0] : []
    self.isBackwards = isBackwards
    let key = "\(name) \(direction)"
    let filter = try context.encoded(
      gates.rows(direction..<direction + 1).reshaped(to: [4 * hidden, shape[2]]),
      named: node.inputs[1], key: "W " + key, axis: 0, .hybridWhole)
    recurrence = try context.encoded(
      recurrent.rows(direction..<direction + 1).reshaped(to: [4 * hidden, hidden]),
      named: node.inputs[2], key: "R " + key, axis: 0, .hybridWhole)
    noBias = try context.zeros(4 * hidden)
    let bias = try Self.bias(node, direction, hidden, key, &context) ?? noBias
    let all = context.emit(
      "FULLY_CONNECTED", [try context.tensor(input), filter, bias],
      as: TFLiteDraft.Value(
        name: name + "/projection", elementType: .float32, shape: [stepCount, batch, 4 * hidden],
        open: openBatch.isEmpty ? [] : [1]),
      options: WritingContext.layerOptions(.none, keepsAxes: true))
    projections = Self.unpacked(
      all,
      TFLiteDraft.Value(
        name: name + "/step", elementType: .float32, shape: [batch, 4 * hidden], open: openBatch),
      stepCount, &context)
    for index in [5, 6] {
      guard let state = context.input(index, of: node) else { continue }
      let states = Self.unpacked(
        try context.tensor(state),
        TFLiteDraft.Value(
          name: name + "/state", elementType: .float32, shape: [batch, hidden], open: openBatch),
        try context.shape(state)[0], &context)
      if index == 5 { initialHidden = states[direction] } else { initialCell = states[direction] }
    }
  }

  /// Both biases of a direction, added up.
  private static func bias(
    _ node: Node, _ direction: Int, _ hidden: Int, _ key: String, _ context: inout WritingContext
  ) throws -> Int? {
    guard let name = context.input(3, of: node) else { return nil }
    let values = try context.constantInput(3, of: node)
      .rows(direction..<direction + 1).values(as: Float.self)
    let sums = (0..<4 * hidden).map { values[$0] + values[$0 + 4 * hidden] }
    return context.constantTensor(try Tensor(sums), named: name, key: "B " + key)
  }

  /// The parts of a tensor along its first axis.
  private static func unpacked(
    _ tensor: Int, _ part: TFLiteDraft.Value, _ count: Int, _ context: inout WritingContext
  ) -> [Int] {
    let outputs = (0..<count).map { _ in context.draft.add(part) }
    let options = TFLiteOptions.make {
      $0.integer(0, Int32(count))
      $0.integer(1, Int32(0))
    }
    context.draft.operations.append(
      TFLiteDraft.Operation(name: "UNPACK", inputs: [tensor], outputs: outputs, options: options))
    return outputs
  }

  func run(_ context: inout WritingContext) throws -> Result {
    var outputs = [Int](repeating: 0, count: stepCount)
    var (state, cell) = (initialHidden, initialCell)
    for step in isBackwards ? Array((0..<stepCount).reversed()) : Array(0..<stepCount) {
      let (next, nextCell) = self.step(projections[step], state, cell, &context)
      outputs[step] = next
      (state, cell) = (next, nextCell)
    }
    guard let cell else { throw GraftError(.unsupported, "no steps") }
    return Result(outputs: outputs, cell: cell, isBackwards: isBackwards)
  }

  /// One step; no state is a state of zeros.
  private func step(
    _ projection: Int, _ state: Int?, _ cell: Int?, _ context: inout WritingContext
  ) -> (state: Int, cell: Int) {
    let none = TFLiteOptions.activation(.none)
    var sum = projection
    if let state {
      let product = context.emit(
        "FULLY_CONNECTED", [state, recurrence, noBias], like: projection,
        named: name + "/recurrence",
        options: WritingContext.layerOptions(.none, keepsAxes: false))
      sum = context.emit(
        "ADD", [projection, product], like: projection, named: name + "/sum", options: none)
    }
    let gate = TFLiteDraft.Value(
      name: name + "/gate", elementType: .float32, shape: [batch, hidden], open: openBatch)
    let parts = (0..<4).map { _ in context.draft.add(gate) }
    context.draft.operations.append(
      TFLiteDraft.Operation(
        name: "SPLIT", inputs: [context.int(1), sum], outputs: parts,
        options: TFLiteOptions.integer(4)))
    func apply(_ op: String, _ inputs: [Int], _ context: inout WritingContext) -> Int {
      context.emit(
        op, inputs, as: gate, options: ["ADD", "MUL"].contains(op) ? none : nil)
    }
    // Gates in the order input, output, forget, cell.
    let input = apply("LOGISTIC", [parts[0]], &context)
    let output = apply("LOGISTIC", [parts[1]], &context)
    let candidate = apply("TANH", [parts[3]], &context)
    var next = apply("MUL", [input, candidate], &context)
    if let cell {
      let forget = apply("LOGISTIC", [parts[2]], &context)
      next = apply("ADD", [apply("MUL", [forget, cell], &context), next], &context)
    }
    return (apply("MUL", [output, apply("TANH", [next], &context)], &context), next)
  }

  /// The layer's outputs: [steps, directions, batch, hidden] and the last states.
  static func join(_ results: [Result], _ node: Node, _ context: inout WritingContext) throws {
    func stacked(_ parts: [Int], axis: Int, _ value: TFLiteDraft.Value) -> Int {
      let options = TFLiteOptions.make {
        $0.integer(0, Int32(parts.count))
        $0.integer(1, Int32(axis))
      }
      return context.emit("PACK", parts, as: value, options: options)
    }
    func isWanted(_ index: Int) -> Bool {
      node.outputs.indices.contains(index) && context.isRead(node.outputs[index])
    }
    if isWanted(0) {
      let whole = try context.description(of: node.outputs[0])
      var perDirection = whole
      perDirection.shape.remove(at: 1)
      perDirection.open = Set(perDirection.open.map { $0 > 1 ? $0 - 1 : $0 })
      let directions = results.map { stacked($0.outputs, axis: 0, perDirection) }
      context.bind(
        node.outputs[0], stacked(directions, axis: 1, whole), order: Array(0..<4))
    }
    for index in [1, 2] where isWanted(index) {
      let value = try context.description(of: node.outputs[index])
      let parts = results.map { result in
        let last = result.isBackwards ? result.outputs.first : result.outputs.last
        return index == 1 ? last ?? result.cell : result.cell
      }
      context.bind(
        node.outputs[index], stacked(parts, axis: 0, value), order: Array(0..<3))
    }
  }
}
