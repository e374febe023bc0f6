import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The graph that a neural network becomes, while it grows layer by layer.
///
/// Older networks know arrays of five axes only: sequence, batch, channels, height, width. Here the
/// first two are one axis, along which most layers do the same to every element, so that pictures
/// have the form that ONNX's operators take; layers of sequences take the two apart. Values of height
/// and width 1 have no such axes at all as long as nothing asks for them.
struct NetworkContext {
  var graph: CoreMLGraph
  /// Whether arrays have the axes that are declared, rather than five.
  let isExact: Bool
  private var blobs: [String: Blob] = [:]
  /// The size of the batch, a vector of one integer, and whether an axis of steps stands before it.
  var batch: (size: String, isSecond: Bool)?
  /// The initializers that hold each layer's weights.
  var parameters: [String: [String]] = [:]

  /// A value of the network by the name the file has for it.
  struct Blob {
    var value: String
    var form: Form
  }

  enum Form {
    /// [steps x batch, channels, height, width]
    case picture
    /// [steps x batch, channels], for height and width 1
    case vector
    /// The axes that the file has.
    case exact
  }

  init(_ graph: CoreMLGraph, isExact: Bool) {
    self.graph = graph
    self.isExact = isExact
  }

  // MARK: Values

  func blob(_ name: String) throws -> Blob {
    try blobs[name].orThrow {
      GraftError(
        .damaged, "it reads '\(name)', which no layer or input makes",
        fix: didYouMean(name, among: blobs.keys))
    }
  }

  func has(_ name: String) -> Bool { blobs[name] != nil }

  mutating func bind(_ name: String, _ value: String, _ form: Form) {
    blobs[name] = Blob(value: graph.renamed(value, to: name), form: form)
  }

  /// A value as [pictures, channels, height, width].
  mutating func picture(_ blob: Blob) throws -> String {
    switch blob.form {
    case .picture: return blob.value
    case .vector: return graph.add("Unsqueeze", [blob.value, try graph.ints([2, 3])])
    case .exact:
      let rank = try rank(blob)
      if rank == 4 { return blob.value }
      if rank == 3 { return graph.add("Unsqueeze", [blob.value, try graph.ints([0])]) }
      guard rank > 4 else {
        throw GraftError(
          .unsupported, "its input has \(rank) axes, and a picture has three or more")
      }
      let last = graph.sizes(blob.value, from: -3)
      let shape = graph.add("Concat", [try graph.ints([-1]), last], ["axis": .int(0)])
      return graph.add("Reshape", [blob.value, shape])
    }
  }

  /// A value with the axes that the file has: five in older networks.
  mutating func exact(_ blob: Blob) throws -> String {
    if blob.form == .exact { return blob.value }
    let value = try picture(blob)
    return try unfolded(value)
  }

  /// Steps and batch as two axes again; their product is the first axis.
  mutating func unfolded(_ value: String) throws -> String {
    guard let batch else {
      throw GraftError(.unsupported, "the size of the batch is unknown: the network has no input")
    }
    let shape = graph.add(
      "Concat", [try graph.ints([-1]), batch.size, graph.sizes(value, from: 1)],
      ["axis": .int(0)])
    let result = graph.add("Reshape", [value, shape])
    graph.declare(
      result, KnownType(elementType: .float32, rank: graph.rank(value).map { $0 + 1 }))
    return result
  }

  /// The number of axes that the file has for a value.
  func rank(_ blob: Blob) throws -> Int {
    guard blob.form == .exact else { return 5 }
    return try graph.rank(blob.value).orThrow {
      GraftError(.unsupported, "the number of axes of its input is unknown")
    }
  }

  // MARK: Layers

  /// Adds a layer that does the same to every number of its one input.
  mutating func map(
    _ layer: CoreMLLayer, _ body: (inout CoreMLGraph, String) throws -> String
  ) throws {
    let blob = try blob(layer.input(0))
    bind(try output(of: layer), try body(&graph, blob.value), blob.form)
  }

  /// Adds a layer of pictures with one input and one output.
  mutating func mapPicture(
    _ layer: CoreMLLayer, _ body: (inout NetworkContext, String) throws -> String
  ) throws {
    let blob = try blob(layer.input(0))
    let input = try picture(blob)
    let value = try body(&self, input)
    try bindPicture(try output(of: layer), value, like: blob)
  }

  /// Keeps a picture as a layer's output, with the axes around it that an input had.
  mutating func bindPicture(_ name: String, _ value: String, like blob: Blob) throws {
    guard blob.form == .exact else { return bind(name, value, .picture) }
    switch try rank(blob) {
    case 4: bind(name, value, .exact)
    case 3: bind(name, graph.add("Squeeze", [value, try graph.ints([0])]), .exact)
    default:
      let shape = graph.add(
        "Concat", [graph.sizes(blob.value, from: 0, to: -3), graph.sizes(value, from: 1)],
        ["axis": .int(0)])
      let restored = graph.add("Reshape", [value, shape])
      graph.declare(restored, KnownType(elementType: .float32, rank: try rank(blob)))
      bind(name, restored, .exact)
    }
  }

  /// Adds a layer that sees the axes as the file has them.
  mutating func mapExact(
    _ layer: CoreMLLayer, _ body: (inout CoreMLGraph, [String]) throws -> String
  ) throws {
    let values = try layer.inputs.map { try exact(try blob($0)) }
    bind(try output(of: layer), try body(&graph, values), .exact)
  }

  /// All inputs in one form, which is the simplest that suits every one.
  mutating func alike(_ layer: CoreMLLayer) throws -> (values: [String], form: Form) {
    let blobs = try layer.inputs.map { try blob($0) }
    guard let first = blobs.first else { throw GraftError(.damaged, "it has no input") }
    if blobs.allSatisfy({ $0.form == first.form }) { return (blobs.map(\.value), first.form) }
    if blobs.contains(where: { $0.form == .exact }) {
      return (try blobs.map { try exact($0) }, .exact)
    }
    return (try blobs.map { try picture($0) }, .picture)
  }

  func output(of layer: CoreMLLayer, _ index: Int = 0) throws -> String {
    guard layer.outputs.indices.contains(index) else {
      throw GraftError(.damaged, "output \(index) is missing")
    }
    return layer.outputs[index]
  }

  // MARK: Weights

  /// Adds weights as a parameter of the layer.
  mutating func parameter(
    _ layer: CoreMLLayer, _ field: Int, _ shape: Shape, named name: String
  ) throws -> String {
    let tensor = try locating(name) {
      try CoreMLWeights(try layer.parameters.message(field)).tensor(shape, owner: graph.owner)
    }
    return parameter(layer, tensor, named: name)
  }

  mutating func parameter(_ layer: CoreMLLayer, _ tensor: Tensor, named name: String) -> String {
    let value = graph.initializer(tensor, named: "\(layer.name).\(name)")
    parameters[layer.name, default: []].append(value)
    return value
  }

  /// One number for each channel, in a shape that goes with values of a form.
  mutating func channelParameter(
    _ layer: CoreMLLayer, _ weights: CoreMLMessage, _ form: Form, named name: String
  ) throws -> String {
    let weights = CoreMLWeights(weights)
    let count = try weights.count()
    let tensor = try weights.tensor([count], owner: graph.owner)
    let shape: Shape = form == .vector || count == 1 ? [count] : [count, 1, 1]
    return parameter(layer, try tensor.reshaped(to: shape), named: name)
  }
}

extension CoreMLWeights {
  /// How many weights there are, for float32 and float16.
  func count() throws -> Int {
    guard !isQuantized else {
      throw GraftError(.unsupported, "weights of a number that is not told, as codes")
    }
    return try storedCount()
  }
}
