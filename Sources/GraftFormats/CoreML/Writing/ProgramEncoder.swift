import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Encodes a draft as an ML program with one function.
struct ProgramEncoder {
  /// The version of the operations, and that of the format which goes with it.
  private static let opset = "CoreML6"
  static let specificationVersion = 7
  /// Constants with more elements lie in the weight file.
  private static let largestImmediate = 10

  let draft: CoreMLDraft
  let weights: TFLiteWeights
  private(set) var file = WeightFile()
  private(set) var names: ProgramNames
  private var operations: [ProtobufWriter] = []
  private var written: Set<String> = []
  private let scores: String?

  private let classifier: ClassifierOutput?

  /// - Parameter classifier: which output becomes the probabilities of classes.
  init(_ draft: CoreMLDraft, weights: TFLiteWeights, classifier: ClassifierOutput?) {
    var draft = draft
    self.classifier = classifier
    scores = draft.outputs.first { $0.name == classifier?.scores }?.value
    draft.outputs.removeAll { $0.name == classifier?.scores }
    self.draft = draft
    self.weights = weights
    names = ProgramNames(
      draft, reserving: classifier.map { [$0.label, $0.probabilities] } ?? [])
  }

  mutating func encoded() throws -> ProtobufWriter {
    for operation in draft.operations {
      try locating(operation.place) { try encode(operation) }
    }
    var outputs: [String] = []
    for (name, value) in draft.outputs {
      outputs.append(try output(name, value))
    }
    if let classifier, let scores {
      try writeConstant(scores)
      classify(classifier, names[scores])
      outputs = [classifier.label, classifier.probabilities] + outputs
    }
    return ProtobufWriter { program in
      program.int(1, 1)
      program.entry(2, "main") { function in
        for input in draft.inputs {
          function.message(1) { $0.named(names[input.name], draft.types[input.name]) }
        }
        function.string(2, Self.opset)
        function.entry(3, Self.opset) { block in
          for output in outputs { block.string(2, output) }
          for operation in operations { block.message(3, operation) }
        }
      }
    }
  }

  // MARK: Operations

  private mutating func encode(_ operation: CoreMLDraft.Operation) throws {
    if operation.type == "clip" { return try encodeClip(operation) }
    try add(operation.type, operation.arguments, operation.outputs)
  }

  /// Bounds as the smaller and the larger number, which every device computes in one step with the
  /// operation before.
  private mutating func encodeClip(_ operation: CoreMLDraft.Operation) throws {
    let (low, high) = (operation.number("alpha"), operation.number("beta"))
    let x = operation.value("x") ?? ""
    let output = operation.outputs[0]
    var steps: [(String, [(name: String, value: CoreMLDraft.Argument)])] = []
    if low == 0 {
      steps.append(("relu", []))
    } else if low > -.greatestFiniteMagnitude {
      steps.append(("maximum", [("y", .number(low))]))
    }
    if high < .greatestFiniteMagnitude { steps.append(("minimum", [("y", .number(high))])) }
    if steps.isEmpty { steps.append(("identity", [])) }
    var value = names[x]
    for (index, (type, more)) in steps.enumerated() {
      let isLast = index == steps.count - 1
      let name = isLast ? names[output] : names.fresh(names[output] + "_bound")
      let inputs =
        try [("x", value)] + more.map { ($0.name, try argument($0.value, name, $0.name)[0]) }
      write(type, inputs.map { ($0.0, [$0.1]) }, [(name, draft.types[output])])
      value = name
    }
  }

  private mutating func add(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)],
    _ outputs: [String]
  ) throws {
    let name = names[outputs[0]]
    let inputs = try arguments.map { ($0.name, try argument($0.value, name, $0.name)) }
    write(type, inputs, outputs.map { (names[$0], draft.types[$0]) })
  }

  private mutating func write(
    _ type: String, _ inputs: [(String, [String])], _ outputs: [(String, TensorType?)],
    attributes: [(String, ProtobufWriter)] = []
  ) {
    operations.append(
      ProtobufWriter { message in
        message.string(1, type)
        for (name, values) in inputs {
          message.entry(2, name) { argument in
            for value in values { argument.message(1) { $0.string(1, value) } }
          }
        }
        for (name, type) in outputs { message.message(3) { $0.named(name, type) } }
        message.entry(5, "name") { $0.text(outputs.first?.0 ?? "") }
        for (name, value) in attributes {
          message.message(5) {
            $0.string(1, name)
            $0.message(2, value)
          }
        }
      })
  }

  /// The output of the program: the value itself where it bears the output's name.
  private mutating func output(_ name: String, _ value: String) throws -> String {
    let wanted = names[output: name]
    try writeConstant(value)
    if names[value] == wanted { return wanted }
    write("identity", [("x", [names[value]])], [(wanted, draft.types[value])])
    return wanted
  }

  // MARK: Constants

  /// The names of the values that an argument is.
  private mutating func argument(
    _ argument: CoreMLDraft.Argument, _ owner: String, _ parameter: String
  ) throws -> [String] {
    switch argument {
    case .value(let value):
      try writeConstant(value)
      return [names[value]]
    case .values(let values):
      for value in values { try writeConstant(value) }
      return values.map { names[$0] }
    default: break
    }
    let name = names.fresh("\(owner)_\(parameter)")
    writeImmediate(name, argument)
    return [name]
  }

  private mutating func writeImmediate(_ name: String, _ argument: CoreMLDraft.Argument) {
    let (type, value) = argument.immediate
    write(
      "const", [], [(name, type)],
      attributes: [
        (
          "val",
          ProtobufWriter {
            $0.message(2) { $0.valueType(type) }
            $0.message(3) { $0.message(1, value) }
          }
        )
      ])
  }

  private mutating func writeConstant(_ name: String) throws {
    guard let tensor = draft.constants[name], written.insert(name).inserted else { return }
    let type = TensorType(tensor.elementType, tensor.shape)
    if weights == .float16, tensor.elementType == .float32,
      tensor.elementCount > 1024, let halves = try tensor.halved()
    {
      return writeHalves(names[name], type, file.add(halves))
    }
    let isStored = tensor.elementType == .float32 && tensor.elementCount > Self.largestImmediate
    let place = isStored ? file.add(tensor) : nil
    let value = try ProtobufWriter { value in
      value.message(2) { $0.valueType(type) }
      if let place {
        value.blob(place)
      } else {
        try value.message(3) { try $0.message(1) { try $0.numbers(tensor) } }
      }
    }
    write("const", [], [(names[name], type)], attributes: [("val", value)])
  }

  private mutating func writeHalves(_ name: String, _ type: TensorType, _ place: Int) {
    let source = ProtobufWriter {
      $0.message(2) { $0.valueType(TensorType(.float16, type.shape)) }
      $0.blob(place)
    }
    let kind = ProtobufWriter { $0.text("fp32") }
    write(
      "constexpr_cast", [], [(name, type)],
      attributes: [("source_val", source), ("output_dtype", kind)])
  }

  // MARK: Classes

  private mutating func classify(_ output: ClassifierOutput, _ scores: String) {
    operations.append(
      ProtobufWriter { message in
        message.string(1, "classify")
        message.entry(2, "probabilities") { $0.message(1) { $0.string(1, scores) } }
        message.entry(2, "classes") { $0.message(1) { $0.message(2) { $0.labels(output.labels) } } }
        message.message(3) {
          $0.string(1, output.label)
          $0.message(2) { $0.message(1) { $0.int(1, output.labels.dataType) } }
        }
        message.message(3) {
          $0.string(1, output.probabilities)
          $0.message(2) { type in
            type.message(4) { dictionary in
              dictionary.message(1) { $0.message(1) { $0.int(1, output.labels.dataType) } }
              dictionary.message(2) { $0.message(1) { $0.int(1, 12) } }
            }
          }
        }
        message.entry(5, "name") { $0.text("classify") }
      })
  }
}
