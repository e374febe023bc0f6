import GraftDiagnostics
import GraftGraph
import GraftTensor

extension WritingContext {
  // MARK: Operators

  /// Adds an operator with one output and gives the output's number.
  mutating func emit(
    _ op: String, _ inputs: [Int?], as output: TFLiteDraft.Value, options: FlatBufferWriter? = nil
  ) -> Int {
    var output = output
    output.constant = nil
    let tensor = draft.add(output)
    draft.operations.append(
      TFLiteDraft.Operation(name: op, inputs: inputs, outputs: [tensor], options: options))
    return tensor
  }

  /// Adds an operator that makes a value of the graph.
  ///
  /// - Parameter order: of the value's axes in the tensor; as in the graph when nil.
  mutating func emit(
    _ op: String, _ inputs: [Int?], for value: String, order: [Int]? = nil,
    options: FlatBufferWriter? = nil
  ) throws {
    let description = try description(of: value, order: order)
    let tensor = emit(op, inputs, as: description, options: options)
    bind(value, tensor, order: try order ?? Array(shape(value).indices))
  }

  /// Adds an operator with several outputs, all values of the graph with their axes in one order.
  mutating func emit(
    _ op: String, _ inputs: [Int?], for values: [String], order: [Int],
    options: FlatBufferWriter? = nil
  ) throws {
    var outputs: [Int] = []
    for value in values {
      outputs.append(draft.add(try description(of: value, order: order)))
      bind(value, outputs[outputs.count - 1], order: order)
    }
    draft.operations.append(
      TFLiteDraft.Operation(name: op, inputs: inputs, outputs: outputs, options: options))
  }

  /// Adds an operator whose output is like a tensor that is there.
  mutating func emit(
    _ op: String, _ inputs: [Int?], like tensor: Int, named name: String,
    options: FlatBufferWriter? = nil
  ) -> Int {
    var value = draft.values[tensor]
    value.name = name
    value.quantization = nil
    return emit(op, inputs, as: value, options: options)
  }

  /// The types that LiteRT's kernels compute with.
  private static let elementTypes: Set<ElementType> = [
    .float32, .int8, .uint8, .int16, .int32, .int64, .bool,
  ]

  /// The tensor that holds a value in an order.
  func description(of value: String, order: [Int]? = nil) throws -> TFLiteDraft.Value {
    let type = try type(value)
    guard Self.elementTypes.contains(type.elementType) else {
      throw GraftError(.unsupported, "values of type \(type.elementType)")
    }
    let identity = Array(type.shape.indices)
    let order = order ?? identity
    return TFLiteDraft.Value(
      name: order == identity ? value : value + "/channels_last", elementType: type.elementType,
      shape: order.map { type.shape[$0] },
      open: Set(order.indices.filter { open(value).contains(order[$0]) }),
      quantization: quantizations[value])
  }

  /// The value to make instead of a node's output, when its only reader is an activation that the
  /// operator can apply by itself.
  mutating func fusedOutput(of node: Node) -> (value: String, activation: FusedActivation) {
    let output = node.outputs[0]
    guard let (index, reader) = onlyReader(of: output), reader.inputs.first == output,
      let activation = activation(reader), (try? type(output))?.elementType == .float32
    else {
      return (output, .none)
    }
    absorbed.insert(index)
    return (reader.outputs[0], activation)
  }

  /// The activation that a node is; nil for other nodes.
  func activation(_ node: Node) -> FusedActivation? {
    guard node.domain.isEmpty else { return nil }
    switch node.op {
    case "Relu": return .relu
    case "Clip":
      func bound(_ index: Int) -> Double? {
        guard let name = input(index, of: node) else { return .infinity }
        return constant(name).flatMap { $0.elementType == .float32 ? $0.number : nil }
      }
      switch (bound(1), bound(2)) {
      case (0, 6): return .relu6
      case (-1, 1): return .reluMinusOneToOne
      case (0, .infinity?): return .relu
      default: return nil
      }
    default: return nil
    }
  }

  // MARK: Constants

  /// A constant tensor, written once for each key.
  mutating func constantTensor(_ tensor: Tensor, named name: String, key: String) -> Int {
    if let known = writtenConstants[key] { return known }
    let number = draft.add(
      TFLiteDraft.Value(
        name: name, elementType: tensor.elementType, shape: tensor.shape.dimensions,
        constant: tensor))
    writtenConstants[key] = number
    return number
  }

  /// A vector of whole numbers as int32; larger ones than fit mean the end of an axis.
  mutating func ints(_ values: [Int]) -> Int {
    constants(values.map { Int32(clamping: $0) }, [values.count], "ints")
  }

  /// A matrix of whole numbers as int32.
  mutating func matrix(_ rows: [[Int]]) -> Int {
    constants(
      rows.flatMap { $0.map { Int32(clamping: $0) } }, [rows.count, rows.first?.count ?? 0], "ints")
  }

  mutating func int(_ value: Int) -> Int { constants([Int32(clamping: value)], [], "int") }

  /// A scalar.
  mutating func number(_ value: Float) -> Int { constants([value], [], "number") }

  /// A constant of numbers that are written in place; nothing but a lack of memory can fail here,
  /// and then an empty tensor stands for them.
  private mutating func constants<Element: TensorElement>(
    _ values: [Element], _ shape: Shape, _ name: String
  ) -> Int {
    let key = "\(name) \(Element.elementType) \(shape) \(values)"
    if let known = writtenConstants[key] { return known }
    let number = draft.add(
      TFLiteDraft.Value(
        name: name, elementType: Element.elementType, shape: shape.dimensions,
        constant: try? Tensor(values, shape: shape)))
    writtenConstants[key] = number
    return number
  }
}

extension Tensor {
  /// The number that a tensor with one element holds.
  var number: Double? {
    guard elementCount == 1 else { return nil }
    switch elementType {
    case .float32: return (try? pointer(as: Float.self)).map { Double($0[0]) }
    case .float64: return (try? pointer(as: Double.self)).map { $0[0] }
    default: return ints.map { Double($0[0]) }
    }
  }
}
