import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let matrixProducts: [String: Rule] = ["MatMul": product, "Gemm": general]

  /// With constant weights a layer, else a product of matrices.
  private static let product: Rule = { context, node in
    let (a, b) = (try context.required(0, of: node), try context.required(1, of: node))
    let (first, second) = (try context.shape(a), try context.shape(b))
    if let weights = context.constant(b), second.rank == 2, first.rank >= 2,
      weights.elementType == .float32
    {
      let bias = try context.addedBias(to: node, count: second[1])
      let layer = context.fusedOutput(of: bias.node)
      return try context.emitLayer(
        try context.tensor(a), rank: first.rank,
        try context.encoded(
          weights.permuted([1, 0]), named: b, key: "\(b) [1, 0]", axis: 0, .hybridWhole),
        bias.tensor, for: layer.value, layer.activation)
    }
    guard first.rank >= 2, second.rank >= 2 else {
      throw GraftError(.unsupported, "vectors of shapes \(first) and \(second)")
    }
    let (left, turnsLeft) = try context.matrix(a)
    let (right, turnsRight) = try context.matrix(b)
    let options = TFLiteOptions.make {
      $0.bool(0, turnsLeft)
      $0.bool(1, turnsRight)
    }
    try context.emit("BATCH_MATMUL", [left, right], for: node.outputs[0], options: options)
  }

  /// alpha * A B + beta * C, each matrix perhaps transposed.
  private static let general: Rule = { context, node in
    let (a, b) = (try context.required(0, of: node), try context.required(1, of: node))
    let (turnsA, turnsB) = (
      try node.int("transA", default: 0) != 0, try node.int("transB", default: 0) != 0
    )
    let (alpha, beta) = (try node.float("alpha", default: 1), try node.float("beta", default: 1))
    let output = try context.shape(node.outputs[0])
    let left = try context.tensor(a, order: turnsA ? [1, 0] : [0, 1])
    let addend = context.input(2, of: node)
    guard let weights = context.constant(b), weights.elementType == .float32 else {
      guard alpha == 1, beta == 1, addend == nil else {
        throw GraftError(.unsupported, "computed weights with factors or a bias")
      }
      let options = TFLiteOptions.make { $0.bool(1, turnsB) }
      return try context.emit(
        "BATCH_MATMUL", [left, try context.tensor(b)], for: node.outputs[0], options: options)
    }
    let rows = turnsB ? weights : try weights.permuted([1, 0])
    let filter = try context.encoded(
      alpha == 1 ? rows : rows.scaled(by: alpha), named: b,
      key: "\(b) \(turnsB) \(alpha)", axis: 0, .hybridWhole)
    guard let addend else {
      let (value, activation) = context.fusedOutput(of: node)
      return try context.emitLayer(
        left, rank: 2, filter, try context.zeros(output[1]), for: value, activation)
    }
    if let bias = context.constant(addend), bias.elementCount == output[1] {
      let scaled = beta == 1 ? bias : try bias.scaled(by: beta)
      let vector = context.constantTensor(
        try scaled.reshaped(to: [output[1]]), named: addend, key: "bias \(addend) \(beta)")
      let (value, activation) = context.fusedOutput(of: node)
      return try context.emitLayer(left, rank: 2, filter, vector, for: value, activation)
    }
    guard beta == 1 else { throw GraftError(.unsupported, "a factor of the addend") }
    var product = try context.description(of: node.outputs[0])
    product.name += "/product"
    let made = context.emit(
      "FULLY_CONNECTED", [left, filter, try context.zeros(output[1])], as: product,
      options: WritingContext.layerOptions(.none, keepsAxes: false))
    let (value, activation) = context.fusedOutput(of: node)
    try context.emit(
      "ADD", [made, try context.tensor(addend)], for: value,
      options: TFLiteOptions.activation(activation))
  }
}

extension WritingContext {
  static func layerOptions(_ activation: FusedActivation, keepsAxes: Bool) -> FlatBufferWriter {
    TFLiteOptions.make {
      $0.integer(0, activation.number)
      $0.integer(1, Int8(0))
      $0.bool(2, keepsAxes)
      $0.bool(3, true)
    }
  }

  /// - Parameters:
  ///   - rank: of the input.
  ///   - filter: [outputs, inputs].
  fileprivate mutating func emitLayer(
    _ input: Int, rank: Int, _ filter: Int, _ bias: Int, for value: String,
    _ activation: FusedActivation
  ) throws {
    try emit(
      "FULLY_CONNECTED", [input, filter, bias], for: value,
      options: Self.layerOptions(activation, keepsAxes: rank != 2))
  }

  mutating func zeros(_ count: Int) throws -> Int {
    constantTensor(try Tensor(zeros: [count]), named: "zeros", key: "zeros \(count)")
  }

  /// The constant that the only reader of a product adds to each row, and the node that makes the
  /// sum; zeros and the product itself where there is none.
  fileprivate mutating func addedBias(to node: Node, count: Int) throws -> (
    tensor: Int, node: Node
  ) {
    guard let (index, reader) = onlyReader(of: node.outputs[0]), reader.op == "Add",
      reader.domain.isEmpty, reader.inputs.count == 2,
      let other = reader.inputs.first(where: { $0 != node.outputs[0] }),
      let bias = constant(other), bias.elementType == .float32, bias.elementCount == count,
      bias.shape.last == count, try bias.shape.rank <= shape(node.outputs[0]).rank
    else { return (try zeros(count), node) }
    absorbed.insert(index)
    let vector = constantTensor(
      try bias.reshaped(to: [count]), named: other, key: "bias \(other) 1.0")
    return (vector, reader)
  }

  /// A factor of a product, and whether its last two axes are to change places.
  fileprivate mutating func matrix(_ value: String) throws -> (tensor: Int, isTurned: Bool) {
    let rank = try shape(value).rank
    let turned = Array(0..<rank - 2) + [rank - 1, rank - 2]
    let isThere = forms[value]?.contains { $0.order == Array(0..<rank) } ?? true
    if !isThere, let form = forms[value]?.first(where: { $0.order == turned }) {
      return (form.tensor, true)
    }
    return (try tensor(value), false)
  }
}

extension Tensor {
  /// The float32 numbers times a factor.
  func scaled(by factor: Float) throws -> Tensor {
    try Tensor(try values(as: Float.self).map { $0 * factor }, shape: shape)
  }
}
