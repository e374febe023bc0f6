import GraftDiagnostics
import GraftGraph
import GraftTensor

/// An operation of an ML program.
struct ProgramOperation {
  /// The name of what it does, such as `conv`.
  let kind: String
  private let arguments: [String: [CoreMLMessage]]
  let attributes: [String: CoreMLMessage]
  let outputs: [String]
  let hasBlocks: Bool

  init(_ message: CoreMLMessage) throws {
    kind = try message.string(1)
    arguments = Dictionary(
      try message.entries(2).map { ($0.key, try $0.value.messages(1)) }
    ) { $1 }
    outputs = try message.messages(3).map { try $0.string(1) }
    hasBlocks = message.has(4)
    attributes = Dictionary(try message.entries(5).map { ($0.key, $0.value) }) { $1 }
  }

  var place: String { "\(kind) operation '\(outputs.first ?? "")'" }

  func has(_ name: String) -> Bool { arguments[name] != nil }

  /// What is bound to a parameter: names of values, or constants.
  func bindings(_ name: String) -> [CoreMLMessage] { arguments[name] ?? [] }

  /// The names of all values that it reads.
  func reads() throws -> [String] {
    try arguments.sorted { $0.key < $1.key }.flatMap { try $0.value.map { try $0.string(1) } }
      .filter { !$0.isEmpty }
  }
}

/// The graph that an ML program becomes, while it grows operation by operation.
///
/// All floating-point numbers are float32, all whole numbers int64.
struct ProgramContext {
  var graph: CoreMLGraph
  let files: ProgramWeightFiles?
  private var constants: [String: ProgramConstant] = [:]
  private var values: [String: String] = [:]
  /// What the classifier at the end of the program makes.
  var classifier: (scores: String, labels: CoreMLLabels)?

  init(_ graph: CoreMLGraph, _ files: ProgramWeightFiles?) {
    self.graph = graph
    self.files = files
  }

  // MARK: Values

  mutating func bind(_ name: String, _ value: String) {
    values[name] = graph.renamed(value, to: name)
  }

  mutating func define(_ name: String, _ constant: ProgramConstant) { constants[name] = constant }

  /// Keeps the first output of an operation.
  mutating func finish(_ operation: ProgramOperation, _ value: String, _ index: Int = 0) throws {
    guard operation.outputs.indices.contains(index) else {
      throw GraftError(.damaged, "output \(index) is missing")
    }
    bind(operation.outputs[index], value)
  }

  /// The value of a name in the graph; constants become initializers where something reads them.
  mutating func value(named name: String) throws -> String {
    if let value = values[name] { return value }
    guard case .numbers(let tensor)? = constants[name] else {
      throw GraftError(
        .damaged, "it reads '\(name)', which nothing makes",
        fix: didYouMean(name, among: values.keys))
    }
    let value = graph.initializer(tensor, named: name)
    values[name] = value
    return value
  }

  /// A required value.
  mutating func value(_ operation: ProgramOperation, _ parameter: String) throws -> String {
    try values(operation, parameter).first.orThrow {
      GraftError(.damaged, "'\(parameter)' is missing")
    }
  }

  /// All values bound to a parameter.
  mutating func values(_ operation: ProgramOperation, _ parameter: String) throws -> [String] {
    try operation.bindings(parameter).map { binding in
      if binding.has(1) { return try value(named: try binding.string(1)) }
      guard case .numbers(let tensor) = try ProgramConstant(try binding.message(2), files) else {
        throw GraftError(.unsupported, "strings as values")
      }
      return graph.initializer(tensor, named: parameter)
    }
  }

  /// A value that may be left out.
  mutating func optional(_ operation: ProgramOperation, _ parameter: String) throws -> String? {
    operation.has(parameter) ? try value(operation, parameter) : nil
  }

  /// The rank of a parameter's value.
  mutating func rank(_ operation: ProgramOperation, _ parameter: String = "x") throws -> Int {
    try graph.rank(try value(operation, parameter)).orThrow {
      GraftError(.unsupported, "the number of axes of '\(parameter)' is unknown")
    }
  }

  // MARK: Constants

  /// A parameter's constant; nil when it is left out.
  func constant(_ operation: ProgramOperation, _ parameter: String, keepsCodes: Bool = false) throws
    -> ProgramConstant?
  {
    if let attribute = operation.attributes[parameter] {
      return try ProgramConstant(attribute, files, keepsCodes: keepsCodes)
    }
    guard let binding = operation.bindings(parameter).first else { return nil }
    guard binding.has(1) else {
      return try ProgramConstant(try binding.message(2), files, keepsCodes: keepsCodes)
    }
    let name = try binding.string(1)
    return try constants[name].orThrow {
      GraftError(.unsupported, "'\(parameter)' is computed, not constant")
    }
  }

  func tensor(_ operation: ProgramOperation, _ parameter: String, keepsCodes: Bool = false) throws
    -> Tensor?
  {
    guard let constant = try constant(operation, parameter, keepsCodes: keepsCodes) else {
      return nil
    }
    guard case .numbers(let tensor) = constant else {
      throw GraftError(.damaged, "'\(parameter)' is a string, not a number")
    }
    return tensor
  }

  func ints(_ operation: ProgramOperation, _ parameter: String) throws -> [Int]? {
    try tensor(operation, parameter)?.integerElements()
  }

  func int(_ operation: ProgramOperation, _ parameter: String) throws -> Int? {
    try ints(operation, parameter)?.first
  }

  func bool(_ operation: ProgramOperation, _ parameter: String) throws -> Bool {
    try int(operation, parameter) ?? 0 != 0
  }

  func float(_ operation: ProgramOperation, _ parameter: String, _ standard: Float) throws -> Float
  {
    try tensor(operation, parameter)?.floats().first ?? standard
  }

  func string(_ operation: ProgramOperation, _ parameter: String, _ standard: String) throws
    -> String
  {
    guard let constant = try constant(operation, parameter) else { return standard }
    guard case .strings(let texts) = constant else {
      throw GraftError(.damaged, "'\(parameter)' is a number, not a string")
    }
    return texts.first ?? standard
  }

  // MARK: Operations

  /// Adds an operation; one without a rule keeps its own name, so that the program can be inspected,
  /// and running it names the operation.
  mutating func lower(_ operation: ProgramOperation) throws {
    guard let rule = ProgramOperators.table[operation.kind], !operation.hasBlocks else {
      return try keep(operation, because: "")
    }
    do {
      try rule(&self, operation)
    } catch let error as GraftError where error.code == .unsupported {
      try keep(operation, because: error.what)
    }
  }

  private mutating func keep(_ operation: ProgramOperation, because reason: String) throws {
    let inputs = try operation.reads().compactMap { name -> String? in
      if case .strings? = constants[name] { return nil }
      return try value(named: name)
    }
    let outputs = graph.add(
      operation.kind, inputs, domain: CoreMLGraph.unknownDomain, outputs: operation.outputs,
      documentation: reason)
    for (name, output) in zip(operation.outputs, outputs) {
      graph.declare(output, KnownType(elementType: nil, rank: nil))
      values[name] = output
    }
  }
}
