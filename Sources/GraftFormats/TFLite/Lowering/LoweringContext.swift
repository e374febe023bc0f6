import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The graph that a subgraph becomes, while it grows operator by operator.
///
/// A tensor has up to four values in the graph: its elements as the file has them, and as floats; each
/// with the axes as the file has them (batch, height, width, channels) and with the channels in
/// front. Rules ask for the form they need; what is not there yet is made from another form, once.
struct LoweringContext {
  let file: TFLiteFile
  let subgraph: TFLiteSubgraph
  let arithmetic: TFLiteArithmetic
  var graph = Graph(name: "")
  let names: NameSource
  /// The name that each tensor's own value has, once there is one.
  let tensorNames: [String]
  let tensorNameSet: Set<String>
  /// Names that values have by now.
  var boundNames: Set<String> = []
  /// Small constants by what they are.
  var sharedConstants: [String: String] = [:]
  var values: [ValueForm: String] = [:]
  /// Constants that have been read.
  var constants: [Int: Tensor] = [:]
  /// Tensors that are another tensor in another form: converted or dense constants.
  var origins: [Int: Int] = [:]
  /// Real and imaginary part of complex tensors.
  var complexParts: [Int: (real: String, imaginary: String)] = [:]

  var variables = LoweredVariables()

  /// A tensor's value in one of its forms.
  struct ValueForm: Hashable {
    var tensor: Int
    var isFloat: Bool
    var isChannelsFirst: Bool
  }

  /// - Parameter given: names for tensors that have them from a signature.
  init(
    _ file: TFLiteFile, _ subgraph: TFLiteSubgraph, arithmetic: TFLiteArithmetic,
    given: [Int: String]
  ) {
    self.file = file
    self.subgraph = subgraph
    self.arithmetic = arithmetic
    let names = NameSource(avoiding: [])
    // Names that users see come first, so that they stay as they are.
    let ends = subgraph.inputs + subgraph.outputs
    let order = ends.filter { given[$0] != nil } + ends + subgraph.tensors.indices
    var chosen = [String?](repeating: nil, count: subgraph.tensors.count)
    for index in order where chosen[index] == nil {
      let name = given[index] ?? subgraph.tensors[index].name
      chosen[index] = names.fresh(name.isEmpty ? "tensor_\(index)" : name)
    }
    tensorNames = chosen.map { $0 ?? "" }
    tensorNameSet = Set(tensorNames)
    self.names = names
  }

  // MARK: Tensors

  func tensor(_ index: Int) -> TFLiteTensor { subgraph.tensors[index] }

  func hasInput(_ index: Int, of operation: TFLiteOperator) -> Bool {
    operation.inputs.indices.contains(index) && operation.inputs[index] != nil
  }

  /// A required input.
  func input(_ index: Int, of operation: TFLiteOperator) throws -> TFLiteTensor {
    guard operation.inputs.indices.contains(index), let number = operation.inputs[index] else {
      throw GraftError(.damaged, "input \(index) is missing")
    }
    return tensor(number)
  }

  func output(_ index: Int, of operation: TFLiteOperator) throws -> TFLiteTensor {
    guard operation.outputs.indices.contains(index) else {
      throw GraftError(.damaged, "output \(index) is missing")
    }
    return tensor(operation.outputs[index])
  }

  /// Whether a tensor's integers stand for real numbers.
  func isQuantized(_ tensor: TFLiteTensor) -> Bool {
    guard tensor.quantization != nil, let type = tensor.elementType else { return false }
    return [.int8, .uint8, .int16, .int32, .int4].contains(type)
  }

  /// Whether an operator reads or makes quantized values that are no constants.
  func isQuantized(_ operation: TFLiteOperator) -> Bool {
    let values = operation.inputs.compactMap { $0 } + operation.outputs
    return values.contains { isQuantized(tensor($0)) && constantOrigin(of: $0) == nil }
  }

  /// The tensor that holds a constant's numbers; nil for a value that is computed or fed.
  func constantOrigin(of index: Int) -> TFLiteTensor? {
    var index = index
    while let origin = origins[index] { index = origin }
    return tensor(index).data == nil ? nil : tensor(index)
  }

  /// The numbers of a constant as the file has them; nil for a value that is computed or fed.
  mutating func constant(_ tensor: TFLiteTensor) throws -> Tensor? {
    guard let origin = constantOrigin(of: tensor.index) else { return nil }
    if let known = constants[origin.index] { return known }
    let value = try origin.constant(owner: file.owner)
    constants[origin.index] = value
    return value
  }

  /// The whole numbers of a constant; nil for a value that is computed or fed.
  mutating func constantInts(_ tensor: TFLiteTensor) throws -> [Int]? {
    guard let constant = try constant(tensor) else { return nil }
    return try constant.ints.orThrow {
      GraftError(.typeMismatch, "it must be int32 or int64", at: [tensor.place])
    }
  }

  /// The whole numbers of an input that must be constant.
  mutating func requiredInts(_ index: Int, of operation: TFLiteOperator) throws -> [Int] {
    try constantInts(try input(index, of: operation)).orThrow {
      GraftError(.unsupported, "its input \(index) is computed, not constant")
    }
  }
}
