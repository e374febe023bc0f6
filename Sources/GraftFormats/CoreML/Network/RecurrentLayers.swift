import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  /// Layers of sequences: [steps, batch, inputs] to [steps, batch, outputs].
  static let recurrentLayers: [String: Rule] = [
    "simpleRecurrent": { context, layer in
      let options = layer.parameters
      var recurrent = try RecurrentWeights(context, layer, gates: 1)
      try recurrent.add([30], [31], try options.bool(20) ? [32] : nil, from: options)
      recurrent.functions = [try RecurrentFunction(try options.message(10))]
      try recurrent.lower(
        &context, "RNN", isReverse: [try options.bool(100)], keepsSequence: try options.bool(15))
    },
    "gru": { context, layer in
      let options = layer.parameters
      var recurrent = try RecurrentWeights(context, layer, gates: 3)
      try recurrent.add(
        [30, 31, 32], [50, 51, 52], try options.bool(20) ? [70, 71, 72] : nil, from: options)
      recurrent.functions = try options.messages(10).map { try RecurrentFunction($0) }
      try recurrent.lower(
        &context, "GRU", isReverse: [try options.bool(100)], keepsSequence: try options.bool(15))
    },
    "uniDirectionalLSTM": { context, layer in
      let options = layer.parameters
      var recurrent = try RecurrentWeights(context, layer, gates: 4)
      let functions = try options.messages(10).map { try RecurrentFunction($0) }
      let parameters = try options.message(15)
      try recurrent.addLSTM(try options.message(20), parameters, functions)
      try recurrent.lower(
        &context, "LSTM", isReverse: [try options.bool(100)],
        keepsSequence: try parameters.bool(10))
    },
    "biDirectionalLSTM": { context, layer in
      let options = layer.parameters
      var recurrent = try RecurrentWeights(context, layer, gates: 4)
      let weights = try options.messages(20)
      guard weights.count == 2 else {
        throw GraftError(.damaged, "it has the weights of \(weights.count) directions")
      }
      let parameters = try options.message(15)
      for (weights, field) in zip(weights, [10, 11]) {
        let functions = try options.messages(field).map { try RecurrentFunction($0) }
        try recurrent.addLSTM(weights, parameters, functions)
      }
      try recurrent.lower(
        &context, "LSTM", isReverse: [false, true], keepsSequence: try parameters.bool(10))
    },
  ]
}

/// A function inside a recurrent layer; its constants are fixed by the format.
struct RecurrentFunction: Equatable {
  var name: String
  var alpha: Float?
  var beta: Float?

  init(_ message: CoreMLMessage) throws {
    switch message.numbers.last {
    case 5: (name, alpha, beta) = ("Affine", 1, 0)
    case 10: name = "Relu"
    case 30: name = "Tanh"
    case 31: (name, alpha, beta) = ("ScaledTanh", 1.71, 2.0 / 3)
    case 40: name = "Sigmoid"
    case 41: (name, alpha, beta) = ("HardSigmoid", 0.2, 0.5)
    default: throw GraftError(.unsupported, "its function is none for recurrent layers")
    }
  }

  /// Whether f(-x) = 1 - f(x).
  var isPointSymmetric: Bool { name == "Sigmoid" || name == "HardSigmoid" }
}

/// The weights of a recurrent layer in the order that ONNX has, one direction after the other.
struct RecurrentWeights {
  private let layer: CoreMLLayer
  private let owner: AnyObject
  private let inputSize: Int
  private let hiddenSize: Int
  private let gates: Int
  private var input: [Float] = []
  private var recurrent: [Float] = []
  private var bias: [Float] = []
  private var peepholes: [Float] = []
  var functions: [RecurrentFunction] = []
  private var directions = 0

  init(_ context: NetworkContext, _ layer: CoreMLLayer, gates: Int) throws {
    self.layer = layer
    self.gates = gates
    owner = context.graph.owner
    inputSize = try layer.parameters.int(1)
    hiddenSize = try layer.parameters.int(2)
    guard inputSize > 0, hiddenSize > 0, inputSize < 1 << 24, hiddenSize < 1 << 24 else {
      throw GraftError(.damaged, "\(inputSize) inputs and \(hiddenSize) outputs")
    }
  }

  private func floats(_ message: CoreMLMessage, _ field: Int, _ shape: Shape) throws -> [Float] {
    try CoreMLWeights(try message.message(field)).tensor(shape, owner: owner).values()
  }

  /// Adds one direction from fields of gates in ONNX's order.
  mutating func add(
    _ inputs: [Int], _ recurrents: [Int], _ biases: [Int]?, from message: CoreMLMessage
  ) throws {
    directions += 1
    for field in inputs { input += try floats(message, field, [hiddenSize, inputSize]) }
    for field in recurrents { recurrent += try floats(message, field, [hiddenSize, hiddenSize]) }
    let count = gates * hiddenSize
    if let biases {
      for field in biases { bias += try floats(message, field, [hiddenSize]) }
    } else {
      bias += [Float](repeating: 0, count: count)
    }
    bias += [Float](repeating: 0, count: count)
  }

  /// Adds one direction of an LSTM; ONNX's gates are input, output, forget, cell.
  mutating func addLSTM(
    _ weights: CoreMLMessage, _ parameters: CoreMLMessage, _ functions: [RecurrentFunction]
  ) throws {
    guard functions.count == 3 else {
      throw GraftError(.damaged, "it has \(functions.count) functions, not 3")
    }
    let limit = try parameters.float(60)
    guard limit == 0 || limit >= 10 else {
      throw GraftError(.unsupported, "its cell's state is kept within \(limit)")
    }
    let start = (input.count, recurrent.count, bias.count, peepholes.count)
    try add(
      [1, 4, 2, 3], [20, 23, 21, 22], try parameters.bool(20) ? [40, 43, 41, 42] : nil,
      from: weights)
    if try parameters.bool(40) {
      for field in [60, 62, 61] { peepholes += try floats(weights, field, [hiddenSize]) }
    }
    let forget = 2 * hiddenSize
    if try parameters.bool(30) {
      for index in start.2 + forget..<start.2 + forget + hiddenSize { bias[index] += 1 }
    }
    if try parameters.bool(50) {
      // What is let in is forgotten: 1 - f(x) is f(-x).
      guard functions[0].isPointSymmetric else {
        throw GraftError(.unsupported, "coupled gates with the function \(functions[0].name)")
      }
      let size = hiddenSize
      func couple(_ list: inout [Float], _ start: Int, _ row: Int) {
        for index in 0..<size * row {
          list[start + forget * row + index] = -list[start + index]
        }
      }
      couple(&input, start.0, inputSize)
      couple(&recurrent, start.1, hiddenSize)
      couple(&bias, start.2, 1)
      if peepholes.count > start.3 { couple(&peepholes, start.3, 1) }
    }
    self.functions += functions
  }

  /// Adds the operator and what brings its values into shape.
  func lower(
    _ context: inout NetworkContext, _ op: String, isReverse: [Bool], keepsSequence: Bool
  ) throws {
    guard functions.count == (op == "LSTM" ? 3 : op == "GRU" ? 2 : 1) * directions else {
      throw GraftError(.damaged, "it has \(functions.count) functions")
    }
    let states = layer.inputs.count - 1
    let kinds = op == "LSTM" ? 2 : 1
    guard states == 0 || states == kinds * directions else {
      throw GraftError(.damaged, "it has \(layer.inputs.count) inputs")
    }
    let x = try sequence(&context, layer.inputs[0], [-1], inputSize)
    let rows = gates * hiddenSize
    var inputs = [
      x,
      context.parameter(
        layer, try Tensor(input, shape: [directions, rows, inputSize]), named: "weights"),
      context.parameter(
        layer, try Tensor(recurrent, shape: [directions, rows, hiddenSize]), named: "recurrent"),
      context.parameter(
        layer, try Tensor(bias, shape: [directions, 2 * rows]), named: "bias"),
    ]
    if states > 0 { inputs += [""] + (try initialStates(&context, kinds)) }
    if !peepholes.isEmpty {
      if states == 0 { inputs += ["", "", ""] }
      let tensor = try Tensor(peepholes, shape: [directions, 3 * hiddenSize])
      inputs.append(context.parameter(layer, tensor, named: "peepholes"))
    }
    let outputs = context.graph.add(
      op, inputs, attributes(isReverse), outputs: Array([op, op, op].prefix(kinds + 1)))
    try bind(&context, outputs, keepsSequence: keepsSequence)
  }

  private func attributes(_ isReverse: [Bool]) -> [String: Attribute] {
    var attributes: [String: Attribute] = [
      "hidden_size": .int(hiddenSize), "clip": .float(50),
      "activations": .strings(functions.map { Array($0.name.utf8) }),
      "direction": .string(
        directions == 2 ? "bidirectional" : isReverse[0] ? "reverse" : "forward"),
    ]
    let (alphas, betas) = (functions.compactMap(\.alpha), functions.compactMap(\.beta))
    if !alphas.isEmpty { attributes["activation_alpha"] = .floats(alphas) }
    if !betas.isEmpty { attributes["activation_beta"] = .floats(betas) }
    return attributes
  }

  /// A value as [steps, batch, size].
  private func sequence(
    _ context: inout NetworkContext, _ name: String, _ steps: [Int], _ size: Int
  ) throws -> String {
    let blob = try context.blob(name)
    guard let batch = context.batch else {
      throw GraftError(.unsupported, "the size of the batch is unknown: the network has no input")
    }
    let shape = context.graph.add(
      "Concat", [try context.graph.ints(steps), batch.size, try context.graph.ints([size])],
      ["axis": .int(0)])
    return context.graph.add("Reshape", [blob.value, shape])
  }

  /// The states at the start, [directions, batch, hidden]: first all of one kind.
  private func initialStates(_ context: inout NetworkContext, _ kinds: Int) throws -> [String] {
    let states = try layer.inputs.dropFirst().map {
      try sequence(&context, $0, [1], hiddenSize)
    }
    return (0..<kinds).map { kind in
      let ofKind = (0..<directions).map { states[$0 * kinds + kind] }
      return ofKind.count == 1
        ? ofKind[0] : context.graph.add("Concat", ofKind, ["axis": .int(0)])
    }
  }

  /// Gives the layer's outputs: the sequence or its last step, and every direction's last state.
  private func bind(
    _ context: inout NetworkContext, _ outputs: [String], keepsSequence: Bool
  ) throws {
    func keep(_ index: Int, _ value: String, _ size: Int) throws {
      guard layer.outputs.indices.contains(index) else { return }
      if context.isExact {
        let long = context.graph.add("Unsqueeze", [value, try context.graph.ints([3, 4])])
        return context.bind(layer.outputs[index], long, .exact)
      }
      let rows = try context.graph.reshaped(value, [-1, size])
      context.bind(layer.outputs[index], rows, .vector)
    }
    // [steps, directions, batch, hidden] and [directions, batch, hidden].
    let whole =
      keepsSequence
      ? outputs[0] : context.graph.add("Unsqueeze", [outputs[1], try context.graph.ints([0])])
    let turned = context.graph.transposed(whole, [0, 2, 1, 3])
    let size = directions * hiddenSize
    let joined = context.graph.add(
      "Reshape", [turned, try context.graph.ints([0, 0, size])])
    try keep(0, joined, size)
    let kinds = outputs.count - 1
    for direction in 0..<directions {
      for kind in 0..<kinds where layer.outputs.count > 1 + direction * kinds + kind {
        let place = try context.graph.ints([direction])
        let state = context.graph.add("Gather", [outputs[1 + kind], place])
        try keep(1 + direction * kinds + kind, state, hiddenSize)
      }
    }
  }
}
