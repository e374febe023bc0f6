import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
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
}
