import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The names that values have in a program: letters, digits and underscores.
struct ProgramNames {
  private var names: [String: String] = [:]
  private var outputs: [String: String] = [:]
  private var taken: Set<String> = []

  init(_ draft: CoreMLDraft, reserving reserved: [String]) {
    taken = Set(reserved)
    for input in draft.inputs { names[input.name] = fresh(input.name) }
    for (name, value) in draft.outputs {
      let chosen = fresh(name)
      outputs[name] = chosen
      // The first output that a value is gives it its name.
      if names[value] == nil, draft.constants[value] == nil { names[value] = chosen }
    }
    for operation in draft.operations {
      for value in operation.reads + operation.outputs where names[value] == nil {
        names[value] = fresh(value)
      }
    }
    for (_, value) in draft.outputs where names[value] == nil { names[value] = fresh(value) }
  }

  subscript(_ value: String) -> String { names[value] ?? value }

  /// The name of an output of the program.
  subscript(output name: String) -> String { outputs[name] ?? name }

  /// A name that nothing has.
  mutating func fresh(_ base: String) -> String {
    let clean = Self.identifier(base)
    var name = clean
    var count = 0
    while !taken.insert(name).inserted {
      name = "\(clean)_\(count)"
      count += 1
    }
    return name
  }

  static func identifier(_ text: String) -> String {
    let letters = text.unicodeScalars.map { scalar -> Character in
      let isPlain =
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar)
      return isPlain ? Character(scalar) : "_"
    }
    let name = String(letters)
    return name.isEmpty || name.first?.isNumber == true ? "_" + name : name
  }
}

extension CoreMLDraft.Argument {
  private static func list(_ count: Int?, _ type: ElementType) -> TensorType {
    TensorType(type, count.map { [$0] } ?? [])
  }

  /// A constant's type and the message of its value.
  var immediate: (TensorType, ProtobufWriter) {
    switch self {
    case .ints(let values):
      (Self.list(values.count, .int32), ProtobufWriter { $0.message(2) { $0.ints(1, values) } })
    case .int(let value):
      (Self.list(nil, .int32), ProtobufWriter { $0.message(2) { $0.ints(1, [value]) } })
    case .bool(let value):
      (Self.list(nil, .bool), ProtobufWriter { $0.message(3) { $0.ints(1, [value ? 1 : 0]) } })
    case .bools(let values):
      (
        Self.list(values.count, .bool),
        ProtobufWriter { $0.message(3) { $0.ints(1, values.map { $0 ? 1 : 0 }) } }
      )
    case .number(let value):
      (Self.list(nil, .float32), ProtobufWriter { $0.message(1) { $0.floats(1, [value]) } })
    case .text(let text):
      (Self.list(nil, .string), ProtobufWriter { $0.message(4) { $0.string(1, text) } })
    case .value, .values: (Self.list(0, .int32), ProtobufWriter())
    }
  }
}

extension TensorType {
  /// The number of the element type in a program.
  var programType: Int {
    switch elementType {
    case .bool: 1
    case .string: 2
    case .float16: 10
    case .int32: 23
    default: 11
    }
  }
}

extension CoreMLLabels {
  /// The number of the labels' element type in a program.
  var dataType: Int {
    switch self {
    case .strings: 2
    case .integers: 24
    }
  }
}

extension ProtobufWriter {
  /// The fields of a type of a value.
  mutating func valueType(_ type: TensorType) {
    message(1) { tensor in
      tensor.int(1, type.programType)
      if type.shape.rank > 0 { tensor.int(2, type.shape.rank) }
      for size in type.shape { tensor.message(3) { $0.message(1) { $0.int(1, size) } } }
    }
  }

  /// The fields of a name with its type.
  mutating func named(_ name: String, _ type: TensorType?) {
    string(1, name)
    if let type { message(2) { $0.valueType(type) } }
  }

  /// The fields of a value that is a string.
  mutating func text(_ text: String) {
    message(2) { $0.valueType(TensorType(.string, [])) }
    message(3) { $0.message(1) { $0.message(4) { $0.string(1, text) } } }
  }

  /// The field of a value in the weight file.
  mutating func blob(_ place: Int) {
    message(5) {
      $0.string(1, "@model_path/weights/weight.bin")
      $0.int(2, place)
    }
  }

  /// The fields of a value that is the list of all classes.
  mutating func labels(_ labels: CoreMLLabels) {
    message(2) { type in
      type.message(2) { list in
        list.message(1) { $0.message(1) { $0.int(1, labels.dataType) } }
        list.message(2) { $0.message(1) { $0.int(1, labels.count) } }
      }
    }
    func value(_ writer: inout ProtobufWriter, _ fill: (inout ProtobufWriter) -> Void) {
      writer.message(1) {
        $0.message(2) { $0.message(1) { $0.int(1, labels.dataType) } }
        $0.message(3) { $0.message(1, fill) }
      }
    }
    message(3) { immediate in
      immediate.message(3) { list in
        switch labels {
        case .strings(let names):
          for name in names { value(&list) { $0.message(4) { $0.string(1, name) } } }
        case .integers(let numbers):
          for number in numbers { value(&list) { $0.message(5) { $0.ints(1, [number]) } } }
        }
      }
    }
  }

  /// The field of a tensor's numbers.
  mutating func numbers(_ tensor: Tensor) throws {
    switch tensor.elementType {
    case .float32: message(1) { $0.elements(1, of: tensor) }
    case .int32:
      let values = (tensor.ints ?? [])
      message(2) { $0.ints(1, values) }
    case .bool:
      let values = try tensor.values(as: Bool.self).map { $0 ? 1 : 0 }
      message(3) { $0.ints(1, values) }
    default: throw GraftError(.internalFault, "constants of type \(tensor.elementType)")
    }
  }
}
