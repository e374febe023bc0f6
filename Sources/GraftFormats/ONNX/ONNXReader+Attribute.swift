import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ONNXReader {
  func readAttribute(_ field: ProtobufField, into node: inout Node) throws {
    let values = try AttributeFields(try field.message())
    try locating("attribute '\(values.name)'") {
      guard node.attributes[values.name] == nil else {
        throw GraftError(.damaged, "it is there twice")
      }
      node.attributes[values.name] =
        try attribute(values) ?? .opaque(Array(try field.bytes()))
    }
  }

  /// The value; nil for kinds that are kept as they are: sparse tensors, types, references to
  /// a function's attributes, and kinds that are newer than this reader.
  private func attribute(_ fields: AttributeFields) throws -> Attribute? {
    guard !fields.isReference, let kind = fields.kind else { return nil }
    switch kind {
    case .float: return .float(try fields.values.last?.float() ?? 0)
    case .int: return .int(try fields.values.last?.int() ?? 0)
    case .string: return .string(try fields.values.last.map { Array(try $0.bytes()) } ?? [])
    case .floats:
      var list: [Float] = []
      for value in fields.values { try value.appendFloats(to: &list) }
      return .floats(list)
    case .ints:
      var list: [Int] = []
      for value in fields.values { try value.appendInts(to: &list) }
      return .ints(list)
    case .strings: return .strings(try fields.values.map { Array(try $0.bytes()) })
    case .tensor, .tensors: return try tensorAttribute(kind, fields.values)
    case .graph: return .graph(try graph(try required(fields.values.last).message()))
    case .graphs: return .graphs(try fields.values.map { try graph(try $0.message()) })
    }
  }

  private func tensorAttribute(
    _ kind: ONNXAttributeKind, _ fields: [ProtobufField]
  ) throws -> Attribute? {
    if kind == .tensor {
      switch try tensor(try required(fields.last).message()).content {
      case .numbers(let tensor): return .tensor(tensor)
      case .text(let tensor): return .text(tensor)
      }
    }
    var tensors: [Tensor] = []
    for field in fields {
      guard case .numbers(let tensor) = try tensor(try field.message()).content else { return nil }
      tensors.append(tensor)
    }
    return .tensors(tensors)
  }

  private func required(_ field: ProtobufField?) throws -> ProtobufField {
    try field.orThrow { GraftError(.damaged, "its value is missing") }
  }
}

/// What an attribute's message holds, before it is known which of its values counts.
private struct AttributeFields {
  var name = ""
  var kind: ONNXAttributeKind?
  /// Whether it stands for an attribute of the function around it.
  var isReference = false
  /// The fields of the attribute's kind.
  var values: [ProtobufField] = []

  init(_ message: ProtobufReader) throws {
    var message = message
    var kindNumber = 0
    var byKind: [ONNXAttributeKind: [ProtobufField]] = [:]
    var order: [ONNXAttributeKind] = []
    while let field = try message.next() {
      switch field.number {
      case ONNXField.Attribute.name: name = try field.string()
      case ONNXField.Attribute.kind: kindNumber = try field.int()
      case ONNXField.Attribute.reference: isReference = try !field.bytes().isEmpty
      default:
        guard let kind = Self.kinds[field.number] else { continue }
        byKind[kind, default: []].append(field)
        order.append(kind)
      }
    }
    // Old exporters leave the kind out: the field that is there tells it.
    kind = kindNumber == 0 ? order.first : ONNXAttributeKind(rawValue: kindNumber)
    values = kind.flatMap { byKind[$0] } ?? []
  }

  private static let kinds: [Int: ONNXAttributeKind] = [
    ONNXField.Attribute.float: .float, ONNXField.Attribute.int: .int,
    ONNXField.Attribute.string: .string, ONNXField.Attribute.tensor: .tensor,
    ONNXField.Attribute.graph: .graph, ONNXField.Attribute.floats: .floats,
    ONNXField.Attribute.ints: .ints, ONNXField.Attribute.strings: .strings,
    ONNXField.Attribute.tensors: .tensors, ONNXField.Attribute.graphs: .graphs,
  ]
}
