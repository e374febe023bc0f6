import GraftGraph
import GraftTensor

/// What is known of a graph's values before it runs: constants, element types and ranks.
///
/// It is a light inference for rewriting nodes, which also works at old opsets: where it knows
/// nothing, rules fall back to forms that need no knowledge.
struct ValueFacts {
  private var constants: [String: Tensor] = [:]
  private var types: [String: KnownType] = [:]
  /// The names that nodes or outputs read.
  private(set) var reads: Set<String>

  /// - Parameter outer: what is known around a subgraph.
  init(_ graph: Graph, around outer: ValueFacts?) {
    constants = outer?.constants ?? [:]
    types = outer?.types ?? [:]
    reads = graph.allReads
    // Names defined here hide those outside.
    for name in graph.definedNames {
      constants[name] = nil
      types[name] = nil
    }
    for feature in graph.inputs + graph.outputs { declare(feature.name, feature.type) }
    for (name, type) in graph.innerTypes { declare(name, type) }
    let inputs = Set(graph.inputs.map(\.name))
    for (name, tensor) in graph.initializers {
      types[name] = KnownType(of: tensor)
      // An initializer that is an input as well may be fed another value.
      if !inputs.contains(name) { constants[name] = tensor }
    }
  }

  func rank(_ name: String) -> Int? { type(name).rank }
  func elementType(_ name: String) -> ElementType? { type(name).elementType }

  /// Nothing is known of an empty name, which stands for an input left out.
  func type(_ name: String) -> KnownType {
    name.isEmpty ? KnownType() : types[name] ?? KnownType()
  }

  private func constant(_ name: String) -> Tensor? { name.isEmpty ? nil : constants[name] }

  /// The values of a constant int64 or int32 tensor.
  func ints(_ name: String) -> [Int]? { constant(name)?.ints }

  /// The value of a constant tensor of one element.
  func float(_ name: String) -> Float? { floats(name).flatMap { $0.count == 1 ? $0[0] : nil } }

  func floats(_ name: String) -> [Float]? {
    guard let tensor = constant(name) else { return nil }
    switch tensor.elementType {
    case .float32: return try? tensor.values(as: Float.self)
    case .float64: return try? tensor.values(as: Double.self).map { Float($0) }
    default: return tensor.ints?.map { Float($0) }
    }
  }

  /// The value of a constant Boolean tensor of one element.
  func bool(_ name: String) -> Bool? {
    guard let values = try? constant(name)?.values(as: Bool.self), values.count == 1 else {
      return nil
    }
    return values[0]
  }

  /// Adds a constant.
  mutating func define(_ name: String, _ tensor: Tensor) {
    constants[name] = tensor
    types[name] = KnownType(of: tensor)
  }

  /// Adds what is known of a value that is fed.
  mutating func define(_ name: String, _ type: KnownType) { types[name] = type }

  /// Adds what follows for the node's outputs; what was declared stays.
  mutating func learn(_ node: Node) {
    guard node.domain.isEmpty else { return }
    if node.op == "Constant", let tensor = node.constantTensor {
      constants[node.output(0)] = tensor
      types[node.output(0)] = KnownType(of: tensor)
      return
    }
    guard let infer = typeInference[node.op] else { return }
    let inferred = infer(node, self)
    for output in node.op == "Split" ? node.outputs : Array(node.outputs.prefix(1)) {
      types[output] = type(output).completed(by: inferred)
    }
  }

  private mutating func declare(_ name: String, _ type: FeatureType) {
    guard case .tensor(let elementType, let shape) = type else { return }
    types[name] = KnownType(elementType: elementType, rank: shape?.count)
  }
}

/// What is known of a tensor; nil for what is not.
struct KnownType {
  var elementType: ElementType?
  var rank: Int?

  init(elementType: ElementType? = nil, rank: Int? = nil) {
    self.elementType = elementType
    self.rank = rank
  }

  init(of tensor: Tensor) { self.init(elementType: tensor.elementType, rank: tensor.shape.rank) }

  func completed(by other: KnownType) -> KnownType {
    KnownType(elementType: elementType ?? other.elementType, rank: rank ?? other.rank)
  }
}

extension Graph {
  /// The names that nodes, those of subgraphs included, or outputs read.
  var allReads: Set<String> {
    Set(nodes.flatMap(\.reads)).union(outputs.map(\.name))
  }

  fileprivate var definedNames: [String] {
    inputs.map(\.name) + initializers.keys + stringInitializers.keys + nodes.flatMap(\.outputs)
  }
}

extension Node {
  /// The numbers that a Constant node holds, in whichever attribute; nil for text and sparse values.
  var constantTensor: Tensor? {
    for value in attributes.values {
      switch value {
      case .tensor(let tensor): return tensor
      case .int(let value): return try? Tensor(scalar: Int64(value))
      case .ints(let values): return try? Tensor(values.map(Int64.init))
      case .float(let value): return try? Tensor(scalar: value)
      case .floats(let values): return try? Tensor(values)
      default: break
      }
    }
    return nil
  }
}
