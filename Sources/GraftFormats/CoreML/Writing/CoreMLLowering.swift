import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Makes the operations of Core ML's language from a graph, node by node.
struct CoreMLLowering {
  /// Adds the operations for one node. What cannot be expressed throws `unsupported`.
  typealias Rule = @Sendable (inout CoreMLLowering, Node) throws -> Void

  /// The rules by the operator's qualified name.
  static let table: [String: Rule] = [
    unaryRules, binaryRules, windowRules, productRules, normalizationRules, reductionRules,
    shapeRules, indexRules, recurrentRules,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  let graph: Graph
  let shapes: TFLiteShapes
  /// Whether an ML program is to be made, not a network.
  let isProgram: Bool
  var draft = CoreMLDraft()
  /// The value of the draft that each value of the graph is.
  private var names: [String: String] = [:]
  /// For values that only have their axes in another order: of which value, and which order.
  private var transposes: [String: (source: String, order: [Int])] = [:]
  private var taken: Set<String>
  private var absorbed: Set<Int> = []
  private var current = (name: "", place: "")
  private let readers: [String: [Int]]

  init(_ graph: Graph, _ shapes: TFLiteShapes, isProgram: Bool) {
    self.isProgram = isProgram
    self.graph = graph
    self.shapes = shapes
    taken = Set(graph.outputs.map(\.name))
    taken.formUnion(graph.inputs.map(\.name))
    var readers: [String: [Int]] = [:]
    for (index, node) in graph.nodes.enumerated() {
      for name in node.reads { readers[name, default: []].append(index) }
    }
    for output in graph.outputs { readers[output.name, default: []].append(-1) }
    self.readers = readers
  }

  /// Lowers the whole graph.
  ///
  /// - Throws: `unsupported` naming every node that has no form in Core ML, with its operator.
  mutating func lower() throws {
    for input in graph.requiredInputs { try locating("input '\(input.name)'") { try bind(input) } }
    var failures: [(node: Node, reason: String)] = []
    var isUnknown: Set<String> = []
    for (index, node) in graph.nodes.enumerated() where !absorbed.contains(index) {
      if node.outputs.allSatisfy({ $0.isEmpty || shapes.constants[$0] != nil }) { continue }
      // Behind a node that cannot be written, nothing may be known.
      if node.reads.contains(where: isUnknown.contains) {
        isUnknown.formUnion(node.outputs)
        continue
      }
      do {
        try lower(node)
      } catch let error as GraftError where error.code == .unsupported {
        failures.append((node, error.what))
        isUnknown.formUnion(node.outputs)
      }
    }
    if let error = Self.refusal(failures) { throw error }
    for output in graph.outputs {
      draft.outputs.append((output.name, try operand(output.name)))
    }
  }

  private mutating func lower(_ node: Node) throws {
    guard let rule = Self.table[node.qualifiedOp] else {
      throw GraftError(.unsupported, "the operator has no form")
    }
    let name = node.name.isEmpty ? node.outputs.first { !$0.isEmpty } ?? node.op : node.name
    current = (name, node.place)
    try locating(node.place) { try rule(&self, node) }
  }

  private static func refusal(_ failures: [(node: Node, reason: String)]) -> GraftError? {
    guard !failures.isEmpty else { return nil }
    let list = failures.prefix(8).map { "\($0.node.place) (\($0.reason))" }
    let more = failures.count > 8 ? "; and \(failures.count - 8) more" : ""
    return GraftError(
      .unsupported, "Core ML has no form for: " + list.joined(separator: "; ") + more,
      fix: "Write the model as .onnx, or change these operators")
  }

  // MARK: What is known

  func type(_ value: String) throws -> TensorType {
    let type = try shapes.types[value].orThrow {
      GraftError(
        .unsupported, "the shape of '\(value)' depends on numbers that are known in a run only")
    }
    guard [.float32, .int32, .int64, .bool, .uint8].contains(type.elementType) else {
      throw GraftError(.unsupported, "values of type \(type.elementType)")
    }
    guard type.shape.rank <= 5 else {
      throw GraftError(.unsupported, "values of \(type.shape.rank) axes; Core ML has five at most")
    }
    return type.elementType == .int64 ? TensorType(.int32, type.shape) : type
  }

  func shape(_ value: String) throws -> Shape { try type(value).shape }

  func isFloat(_ value: String) throws -> Bool { try type(value).elementType == .float32 }

  func constant(_ value: String) -> Tensor? { shapes.constants[value] }

  /// The name of an input; nil when it is left out.
  func input(_ index: Int, of node: Node) -> String? {
    node.inputs.indices.contains(index) && !node.inputs[index].isEmpty ? node.inputs[index] : nil
  }

  func required(_ index: Int, of node: Node) throws -> String {
    try input(index, of: node).orThrow { GraftError(.damaged, "input \(index) is missing") }
  }

  func constantInput(_ index: Int, of node: Node) throws -> Tensor {
    try constant(try required(index, of: node)).orThrow {
      GraftError(.unsupported, "its input \(index) is computed, not constant")
    }
  }

  func constantInts(_ index: Int, of node: Node) throws -> [Int]? {
    guard input(index, of: node) != nil else { return nil }
    return try constantInput(index, of: node).ints.orThrow {
      GraftError(.damaged, "its input \(index) must be int64 or int32")
    }
  }

  /// The draft's value for a value of the graph; nil when nothing has made it.
  func known(_ value: String) -> String? { names[value] }

  func isRead(_ value: String) -> Bool { !value.isEmpty && readers[value] != nil }

  /// The only node that reads a value that nobody else wants.
  func onlyReader(of value: String) -> (index: Int, node: Node)? {
    guard let all = readers[value], all.count == 1, all[0] >= 0 else { return nil }
    return (all[0], graph.nodes[all[0]])
  }

  /// Says that a node has been done as a part of another one.
  mutating func absorb(_ index: Int) { absorbed.insert(index) }

  // MARK: Values

  /// The draft's value for a value of the graph.
  mutating func operand(_ value: String) throws -> String {
    if let name = names[value] { return name }
    guard let constant = constant(value) else {
      throw GraftError(.internalFault, "nothing has made '\(value)'")
    }
    let name = try self.constant(constant, named: value, from: value)
    names[value] = name
    return name
  }

  /// Adds a constant.
  ///
  /// - Parameter source: the initializer of the graph that it comes from.
  mutating func constant(_ tensor: Tensor, named name: String, from source: String? = nil) throws
    -> String
  {
    let name = fresh(name)
    let stored: Tensor
    switch tensor.elementType {
    case .float32, .bool, .int32: stored = tensor
    case .int64:
      stored = try Tensor((tensor.ints ?? []).map { Int32(clamping: $0) }, shape: tensor.shape)
    default: throw GraftError(.unsupported, "constants of type \(tensor.elementType)")
    }
    draft.constants[name] = stored
    draft.types[name] = TensorType(stored.elementType, stored.shape)
    draft.sources[name] = source
    return name
  }

  /// A number of an operation of floats.
  mutating func number(_ value: Float) throws -> CoreMLDraft.Argument {
    .value(try constant(try Tensor(scalar: value), named: current.name + "/number"))
  }

  mutating func vector(_ values: [Float], _ shape: Shape? = nil) throws -> CoreMLDraft.Argument {
    let tensor = try Tensor(values, shape: shape ?? [values.count])
    return .value(try constant(tensor, named: current.name + "/numbers"))
  }

  func argument(_ name: String) -> CoreMLDraft.Argument { .value(name) }

  private mutating func fresh(_ base: String) -> String {
    var name = base
    var count = 1
    while !taken.insert(name).inserted {
      name = "\(base)_\(count)"
      count += 1
    }
    return name
  }

  /// Adds an operation with an output of its own.
  mutating func emit(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)],
    as result: TensorType, named name: String? = nil
  ) -> String {
    let output = fresh(name ?? current.name + "/" + type)
    add(type, arguments, [(output, result)])
    return output
  }

  /// Adds an operation with several outputs of its own.
  mutating func emit(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)],
    as results: [TensorType]
  ) -> [String] {
    let outputs = results.map { _ in fresh(current.name + "/" + type) }
    add(type, arguments, Array(zip(outputs, results)))
    return outputs
  }

  /// Adds an operation that makes a node's first output.
  mutating func emit(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)], for value: String
  ) throws {
    try emit(type, arguments, for: [value])
  }

  /// Adds an operation that makes several outputs.
  mutating func emit(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)],
    for values: [String]
  ) throws {
    let results = try values.map { value -> (String, TensorType) in
      let isFeature = graph.outputs.contains { $0.name == value } && draft.types[value] == nil
      return (isFeature ? value : fresh(value), try self.type(value))
    }
    add(type, arguments, results)
    for (value, result) in zip(values, results) { names[value] = result.0 }
  }

  private mutating func add(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)],
    _ results: [(String, TensorType)]
  ) {
    for (name, type) in results { draft.types[name] = type }
    draft.operations.append(
      CoreMLDraft.Operation(
        type: type, arguments: arguments, outputs: results.map(\.0), name: current.name,
        place: current.place))
  }

  /// Says that a value of the graph is one of the draft.
  mutating func bind(_ value: String, to name: String) { names[value] = name }

  /// A value with its axes in another order; the value that it comes from where orders cancel out.
  mutating func transposed(_ name: String, _ order: [Int], named: String? = nil) -> String {
    var (source, order) = (name, order)
    if let before = transposes[name] {
      order = order.map { before.order[$0] }
      source = before.source
    }
    if order == Array(order.indices) { return source }
    let type = draft.types[source] ?? TensorType(.float32, [])
    let result = emit(
      "transpose", [("x", .value(source)), ("perm", .ints(order))],
      as: TensorType(type.elementType, Shape(order.map { type.shape[$0] })), named: named)
    transposes[result] = (source, order)
    return result
  }

  mutating func reshaped(_ name: String, _ shape: Shape, named: String? = nil) -> String {
    let type = draft.types[name] ?? TensorType(.float32, shape)
    if type.shape == shape { return name }
    return emit(
      "reshape", [("x", .value(name)), ("shape", .ints(shape.dimensions))],
      as: TensorType(type.elementType, shape), named: named)
  }

  // MARK: Inputs

  private mutating func bind(_ feature: Feature) throws {
    let type = try type(feature.name)
    let channelsLast = type.elementType == .uint8
    let isPicture = type.shape.rank == 4 && (channelsLast || feature.normalization != nil)
    guard isPicture, let picture = PictureLayout(type.shape, prefersLast: channelsLast) else {
      guard type.elementType != .uint8 else {
        throw GraftError(
          .unsupported, "bytes that are no pictures [pictures, height, width, 1 or 3]")
      }
      draft.types[feature.name] = type
      draft.inputs.append(CoreMLDraft.Input(name: feature.name, value: feature.name))
      names[feature.name] = feature.name
      return
    }
    current = (feature.name, "input '\(feature.name)'")
    draft.types[feature.name] = TensorType(.float32, picture.shape)
    draft.inputs.append(
      CoreMLDraft.Input(
        name: feature.name, value: feature.name, pictureChannels: picture.channels))
    var value = feature.name
    if let normalization = feature.normalization {
      value = try normalized(value, picture, normalization)
    }
    if picture.isLast { value = transposed(value, [0, 2, 3, 1]) }
    names[feature.name] = value
  }

  private mutating func normalized(
    _ value: String, _ picture: PictureLayout, _ normalization: FeatureNormalization
  ) throws -> String {
    let type = TensorType(.float32, picture.shape)
    func spread(_ list: [Float]) -> [Float] {
      list.count == picture.channels
        ? list : [Float](repeating: list.first ?? 0, count: picture.channels)
    }
    let factors = spread(normalization.deviation).map { 1 / $0 }
    let bias = zip(spread(normalization.mean), factors).map { -$0 * $1 }
    let isOne = Set(factors).count == 1
    let factor =
      isOne ? try number(factors[0]) : try vector(factors, [1, picture.channels, 1, 1])
    let scaled = emit("mul", [("x", .value(value)), ("y", factor)], as: type)
    return emit(
      "add",
      [("x", .value(scaled)), ("y", try vector(bias, [1, picture.channels, 1, 1]))], as: type)
  }
}

/// How a picture's tensor has its axes.
private struct PictureLayout {
  let isLast: Bool
  let channels: Int
  /// [pictures, channels, height, width]
  let shape: Shape

  /// Nil when no axis can be that of the channels.
  init?(_ shape: Shape, prefersLast: Bool) {
    let last = [1, 3].contains(shape[3])
    let second = [1, 3].contains(shape[1])
    guard last || (second && !prefersLast) else { return nil }
    isLast = prefersLast || !second
    channels = isLast ? shape[3] : shape[1]
    self.shape = isLast ? [shape[0], shape[3], shape[1], shape[2]] : shape
  }
}
