import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The TensorFlow Lite graph that a graph becomes, while it grows node by node.
///
/// A value of the graph may have several tensors, each with the axes in another order. A Transpose
/// costs nothing by itself: its output is its input's tensor, seen in another order. Rules ask for
/// the order that they need; a tensor is made from another one, once, where it is not there yet.
struct WritingContext {
  let graph: Graph
  let shapes: TFLiteShapes
  let weights: TFLiteWeights
  var draft = TFLiteDraft()
  /// The tensors of a value.
  var forms: [String: [Form]] = [:]
  /// What integers of a value stand for.
  let quantizations: [String: TFLiteQuantization]
  /// Constants that were written, by what they are.
  var writtenConstants: [String: Int] = [:]
  /// Nodes that another node did as well.
  var absorbed: Set<Int> = []
  private let readers: [String: [Int]]
  private let outputNames: Set<String>

  /// A tensor that holds a value: its axis `i` is the value's axis `order[i]`.
  struct Form {
    var order: [Int]
    var tensor: Int
  }

  init(_ graph: Graph, _ shapes: TFLiteShapes, weights: TFLiteWeights) {
    self.graph = graph
    self.shapes = shapes
    self.weights = weights
    var readers: [String: [Int]] = [:]
    for (index, node) in graph.nodes.enumerated() {
      for name in node.reads { readers[name, default: []].append(index) }
    }
    self.readers = readers
    outputNames = Set(graph.outputs.map(\.name))
    quantizations = QuantizedValues(graph, shapes).quantizations
  }

  // MARK: What is known

  func type(_ value: String) throws -> TensorType {
    try shapes.types[value].orThrow {
      GraftError(
        .unsupported, "the shape of '\(value)' depends on numbers that are known in a run only")
    }
  }

  func shape(_ value: String) throws -> Shape { try type(value).shape }

  func open(_ value: String) -> Set<Int> { shapes.open[value] ?? [] }

  func constant(_ value: String) -> Tensor? { shapes.constants[value] }

  /// The name of an input; nil when it is left out.
  func input(_ index: Int, of node: Node) -> String? {
    node.inputs.indices.contains(index) && !node.inputs[index].isEmpty ? node.inputs[index] : nil
  }

  func required(_ index: Int, of node: Node) throws -> String {
    try input(index, of: node).orThrow { GraftError(.damaged, "input \(index) is missing") }
  }

  /// The numbers of an input that must be constant.
  func constantInput(_ index: Int, of node: Node) throws -> Tensor {
    try constant(try required(index, of: node)).orThrow {
      GraftError(.unsupported, "its input \(index) is computed, not constant")
    }
  }

  /// The whole numbers of an input that must be constant; nil when it is left out.
  func constantInts(_ index: Int, of node: Node) throws -> [Int]? {
    guard input(index, of: node) != nil else { return nil }
    return try constantInput(index, of: node).ints.orThrow {
      GraftError(.damaged, "its input \(index) must be int64 or int32")
    }
  }

  /// The only node that reads a value that nobody else wants, and its number.
  func onlyReader(of value: String) -> (index: Int, node: Node)? {
    guard !outputNames.contains(value), let all = readers[value], all.count == 1 else { return nil }
    return (all[0], graph.nodes[all[0]])
  }

  func isRead(_ value: String) -> Bool {
    !value.isEmpty && (outputNames.contains(value) || readers[value] != nil)
  }

  // MARK: Binding

  /// Says that a tensor holds a value.
  mutating func bind(_ value: String, _ tensor: Int, order: [Int]) {
    forms[value, default: []].append(Form(order: order, tensor: tensor))
  }

  /// The order that a tensor of a value has its axes in: the first one that it was made in, as
  /// stored for constants.
  func order(of value: String) throws -> [Int] {
    try forms[value]?.first?.order ?? Array(shape(value).indices)
  }

  /// The tensor with a value's axes in an order; as they are in the graph when nil.
  mutating func tensor(_ value: String, order wanted: [Int]? = nil) throws -> Int {
    let shape = try shape(value)
    let order = wanted ?? Array(shape.indices)
    if let known = forms[value]?.first(where: { $0.order == order }) { return known.tensor }
    if let constant = constant(value) {
      let tensor = constantTensor(
        try constant.permuted(order), named: value, key: "value \(value) \(order)")
      draft.values[tensor].quantization = quantizations[value]
      return tensor
    }
    guard let source = forms[value]?.first else {
      throw GraftError(.internalFault, "nothing has made '\(value)'")
    }
    let name = order == Array(shape.indices) ? value : value + "/transposed"
    let tensor = reordered(source, to: order, named: name)
    bind(value, tensor, order: order)
    return tensor
  }

  /// The tensor of another order.
  private mutating func reordered(_ source: Form, to order: [Int], named name: String) -> Int {
    let permutation = order.map { axis in source.order.firstIndex(of: axis) ?? 0 }
    return transposed(source.tensor, permutation, named: name)
  }

  /// A tensor with its axes in another order; only a new shape where axes of size 1 move.
  mutating func transposed(_ tensor: Int, _ permutation: [Int], named name: String) -> Int {
    let source = draft.values[tensor]
    var target = source
    target.name = name
    target.shape = permutation.map { source.shape[$0] }
    target.open = Set(permutation.indices.filter { source.open.contains(permutation[$0]) })
    let moving = permutation.filter { source.shape[$0] != 1 || source.open.contains($0) }
    if moving == moving.sorted(), target.open.count <= 1 {
      return reshaped(tensor, to: target)
    }
    return emit("TRANSPOSE", [tensor, ints(permutation)], as: target)
  }

  /// A tensor under another shape, of which at most one size is open.
  mutating func reshaped(_ tensor: Int, to target: TFLiteDraft.Value) -> Int {
    let sizes = target.shape.indices.map { target.open.contains($0) ? -1 : target.shape[$0] }
    return emit("RESHAPE", [tensor, ints(sizes)], as: target)
  }
}
