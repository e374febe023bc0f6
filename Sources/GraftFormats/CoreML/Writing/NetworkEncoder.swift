import GraftDiagnostics
import GraftTensor

/// Encodes a draft as the layers of a neural network.
///
/// A network is written in one of two forms. The older one has pictures and vectors only, takes
/// batches of every size, and is what Core ML trains. The other one has arrays of one to five axes,
/// with the sizes that are declared.
struct NetworkEncoder {
  /// Adds the layers for one operation. What the form cannot express throws `unsupported`.
  typealias Rule = @Sendable (inout NetworkEncoder, CoreMLDraft.Operation) throws -> Void

  private static let exactRules: [String: Rule] = [
    bothRules, exactArrayRules, exactShapeRules, exactRecurrentRules,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { _, last in last } }

  private static let pictureRules: [String: Rule] = [bothRules, pictureOnlyRules]
    .reduce(into: [:]) { table, rules in table.merge(rules) { _, last in last } }

  let draft: CoreMLDraft
  let isExact: Bool
  let weights: TFLiteWeights
  /// The layers to be marked as updatable, by each of their parameters.
  let updatable: [String: UpdatableLayer]
  private(set) var layers: [ProtobufWriter] = []
  private(set) var marked: Set<String> = []
  /// The version of the format that the layers need.
  var version = 1
  private var names: [String: String] = [:]
  private var layerNames: Set<String> = []
  private var loaded: Set<String> = []

  init(
    _ draft: CoreMLDraft, isExact: Bool, weights: TFLiteWeights, updatable: [UpdatableLayer]
  ) {
    self.draft = draft
    self.isExact = isExact
    self.weights = weights
    var byParameter: [String: UpdatableLayer] = [:]
    for layer in updatable {
      for parameter in layer.parameters { byParameter[parameter] = layer }
    }
    self.updatable = byParameter
    for input in draft.inputs { names[input.value] = input.name }
    for (name, value) in draft.outputs where names[value] == nil && draft.constants[value] == nil {
      names[value] = name
    }
    if isExact || draft.inputs.isEmpty { version = 4 }
  }

  mutating func encode() throws {
    let rules = isExact ? Self.exactRules : Self.pictureRules
    for operation in draft.operations {
      try locating(operation.place) {
        if !isExact { try requirePictures(operation) }
        guard let rule = rules[operation.type] else {
          throw GraftError(.unsupported, "Core ML's networks have no '\(operation.type)'")
        }
        try rule(&self, operation)
      }
    }
    for (name, value) in draft.outputs where self.name(value) != name {
      let source = try blob(value)
      add(600, "copy of \(name)", [source], [name]) { _ in }
    }
  }

  private func requirePictures(_ operation: CoreMLDraft.Operation) throws {
    for value in operation.reads + operation.outputs where draft.constants[value] == nil {
      guard let type = draft.types[value], [2, 4].contains(type.shape.rank),
        type.elementType == .float32
      else { throw GraftError(.unsupported, "a value that is neither picture nor vector") }
    }
  }

  // MARK: Values

  /// The name that a value has in the network.
  func name(_ value: String) -> String { names[value] ?? value }

  func shape(_ value: String) -> Shape { draft.types[value]?.shape ?? [] }

  func constant(_ value: String?) -> Tensor? { value.flatMap { draft.constants[$0] } }

  /// Says that a value is another one, under its name.
  mutating func alias(_ value: String, to source: String) {
    guard let wanted = names[value] else {
      names[value] = name(source)
      return
    }
    add(600, "copy of \(wanted)", [name(source)], [wanted]) { _ in }
  }

  /// The name of a value, which is loaded by a layer where it is a constant.
  mutating func blob(_ value: String) throws -> String {
    guard let tensor = draft.constants[value] else { return name(value) }
    guard loaded.insert(value).inserted else { return name(value) }
    guard isExact else { throw GraftError(.unsupported, "a constant as a value") }
    let shape = tensor.shape.rank == 0 ? [1] : tensor.shape.dimensions
    let data = try weight(value)
    add(1070, "load \(value)", [], [name(value)]) {
      $0.ints(1, shape)
      $0.message(2, data)
    }
    return name(value)
  }

  /// The message of weights; numbers of other types are written as floats.
  func weight(_ value: String, isUpdatable: Bool = false) throws -> ProtobufWriter {
    guard let tensor = draft.constants[value] else {
      throw GraftError(.unsupported, "weights that are computed")
    }
    return try weight(tensor, isUpdatable: isUpdatable)
  }

  func weight(_ tensor: Tensor, isUpdatable: Bool = false) throws -> ProtobufWriter {
    let floats: Tensor
    switch tensor.elementType {
    case .float32: floats = tensor
    case .bool: floats = try Tensor(tensor.values(as: Bool.self).map { $0 ? 1 : 0 as Float })
    default: floats = try Tensor((tensor.ints ?? []).map { Float($0) })
    }
    let halves = weights == .float16 && !isUpdatable && floats.elementCount > 1024
    return try ProtobufWriter {
      if halves, let halves = try floats.halved() {
        $0.elements(2, of: halves)
      } else {
        $0.elements(1, of: floats)
      }
      $0.bool(50, isUpdatable)
    }
  }

  // MARK: Layers

  /// Adds a layer.
  ///
  /// - Parameter kind: the number of its parameters' field.
  mutating func add(
    _ kind: Int, _ name: String, _ inputs: [String], _ outputs: [String],
    layer: UpdatableLayer? = nil, _ fill: (inout ProtobufWriter) -> Void
  ) {
    if kind >= 600 { version = max(version, 4) }
    var unique = layer?.name ?? name
    var count = 1
    while !layerNames.insert(unique).inserted {
      unique = "\(name)_\(count)"
      count += 1
    }
    if let layer { marked.insert(layer.name) }
    layers.append(
      ProtobufWriter { message in
        message.string(1, unique)
        for input in inputs { message.string(2, input) }
        for output in outputs { message.string(3, output) }
        message.bool(10, layer != nil)
        message.message(kind, fill)
      })
  }

  /// Adds the layer for an operation with the inputs `x` or those given.
  mutating func add(
    _ kind: Int, _ operation: CoreMLDraft.Operation, _ inputs: [String]? = nil,
    layer: UpdatableLayer? = nil, _ fill: (inout ProtobufWriter) -> Void = { _ in }
  ) throws {
    let read = try (inputs ?? [operation.value("x") ?? ""]).map { try blob($0) }
    add(kind, operation.name, read, operation.outputs.map { name($0) }, layer: layer, fill)
  }

  /// The updatable layer that has one of these constants as a parameter.
  func updatableLayer(_ constants: [String?]) -> UpdatableLayer? {
    constants.lazy.compactMap { $0 }.compactMap { draft.sources[$0] }
      .compactMap { updatable[$0] }.first
  }
}
