import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let products: [String: Rule] = [
    "innerProduct": { context, layer in
      let options = layer.parameters
      let (inputs, outputs) = (try options.int(1), try options.int(2))
      guard inputs > 0, outputs > 0 else {
        throw GraftError(.damaged, "\(inputs) inputs and \(outputs) outputs")
      }
      guard try !options.bool(22) else {
        throw GraftError(.unsupported, "products of integers with dynamic quantization")
      }
      let blob = try context.blob(layer.input(0))
      let weights = try context.parameter(layer, 20, [outputs, inputs], named: "weights")
      var rest = [weights]
      if try options.bool(10) {
        rest.append(try context.parameter(layer, 21, [outputs], named: "bias"))
      }
      let name = try context.output(of: layer)
      switch blob.form {
      case .vector, .picture:
        let rows =
          blob.form == .vector
          ? blob.value : context.graph.add("Flatten", [blob.value], ["axis": .int(1)])
        context.bind(
          name, context.graph.add("Gemm", [rows] + rest, ["transB": .int(1)]), .vector)
      case .exact:
        let rank = try context.rank(blob)
        try context.bind(
          name, exactProduct(&context.graph, blob.value, rank, rest, inputs: inputs), .exact)
      }
    },
    "batchedMatmul": { context, layer in
      let options = layer.parameters
      let blobs = try layer.inputs.map { try context.blob($0) }
      func turned(_ index: Int, _ field: Int) throws -> String {
        let value = try context.exact(blobs[index])
        guard try options.bool(field) else { return value }
        let rank = try context.rank(blobs[index])
        guard rank >= 2 else { throw GraftError(.unsupported, "it transposes a vector") }
        return context.graph.transposed(value, Array(0..<rank - 2) + [rank - 1, rank - 2])
      }
      let name = try context.output(of: layer)
      if blobs.count == 2 {
        let (first, second) = (try turned(0, 1), try turned(1, 2))
        return context.bind(name, context.graph.add("MatMul", [first, second]), .exact)
      }
      let shape: Shape = [try options.int(5), try options.int(6)]
      guard blobs.count == 1, try !options.bool(10) else {
        throw GraftError(.unsupported, "\(blobs.count) inputs, or dynamic quantization")
      }
      let weights = try context.parameter(layer, 8, shape, named: "weights")
      var value = context.graph.add("MatMul", [try turned(0, 1), weights])
      if try options.bool(7) {
        let bias = try context.parameter(layer, 9, [shape[1]], named: "bias")
        value = context.graph.add("Add", [value, bias])
      }
      context.bind(name, value, .exact)
    },
  ]

  /// With four or more axes the last three are one vector, and the result keeps two of size 1.
  private static func exactProduct(
    _ graph: inout CoreMLGraph, _ value: String, _ rank: Int, _ weights: [String], inputs: Int
  ) throws -> String {
    var value = value
    if rank == 4 || (rank == 2) {
      let rows = rank == 4 ? try graph.reshaped(value, [-1, inputs]) : value
      let result = graph.add("Gemm", [rows] + weights, ["transB": .int(1)])
      return rank == 4 ? graph.add("Unsqueeze", [result, try graph.ints([2, 3])]) : result
    }
    if rank > 4 {
      let shape = graph.add(
        "Concat", [graph.sizes(value, from: 0, to: -3), try graph.ints([inputs])],
        ["axis": .int(0)])
      value = graph.add("Reshape", [value, shape])
    }
    value = graph.add("MatMul", [value, graph.transposed(weights[0], [1, 0])])
    if weights.count > 1 { value = graph.add("Add", [value, weights[1]]) }
    guard rank > 4 else { return value }
    value = graph.add("Unsqueeze", [value, try graph.ints([-2, -1])])
    graph.declare(value, KnownType(elementType: .float32, rank: rank))
    return value
  }

  static let embeddings: [String: Rule] = [
    "embedding": { context, layer in
      let options = layer.parameters
      let blob = try context.blob(layer.input(0))
      let indices = try context.graph.reshaped(blob.value, [-1])
      let value = try embedded(
        &context, layer, indices, inputs: try options.int(1), outputs: try options.int(2),
        hasBias: try options.bool(10))
      guard blob.form == .exact else {
        return context.bind(try context.output(of: layer), value, .vector)
      }
      throw GraftError(.unsupported, "an embedding of a value with all its axes")
    },
    "embeddingND": { context, layer in
      let options = layer.parameters
      let value = try context.exact(try context.blob(layer.input(0)))
      let indices = context.graph.add("Squeeze", [value, try context.graph.ints([-1])])
      let result = try embedded(
        &context, layer, indices, inputs: try options.int(1), outputs: try options.int(2),
        hasBias: try options.bool(3))
      context.bind(try context.output(of: layer), result, .exact)
    },
  ]

  private static func embedded(
    _ context: inout NetworkContext, _ layer: CoreMLLayer, _ indices: String, inputs: Int,
    outputs: Int, hasBias: Bool
  ) throws -> String {
    let stored = try CoreMLWeights(try layer.parameters.message(20))
      .tensor([outputs, inputs], owner: context.graph.owner)
    let table = context.parameter(layer, try stored.permuted([1, 0]), named: "weights")
    let value = context.graph.add("Gather", [table, context.graph.cast(indices, to: .int64)])
    guard hasBias else { return value }
    let bias = try context.parameter(layer, 21, [outputs], named: "bias")
    return context.graph.add("Add", [value, bias])
  }
}
