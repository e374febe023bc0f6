import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let productRules: [String: Rule] = [
    "MatMul": { try $0.matrixProduct($1) },
    "Gemm": { try $0.layer($1) },
  ]

  private mutating func matrixProduct(_ node: Node) throws {
    let (left, right) = (node.inputs[0], node.inputs[1])
    guard try isFloat(left) else { throw GraftError(.unsupported, "whole numbers") }
    let (leftShape, rightShape) = (try shape(left), try shape(right))
    guard let matrix = constant(right), constant(left) == nil, rightShape.rank == 2,
      (2...3).contains(leftShape.rank)
    else {
      guard leftShape.rank > 1, rightShape.rank > 1 else {
        throw GraftError(.unsupported, "products with vectors")
      }
      return try emit(
        "matmul",
        [
          ("x", .value(try operand(left))), ("y", .value(try operand(right))),
          ("transpose_x", .bool(false)), ("transpose_y", .bool(false)),
        ], for: node.outputs[0])
    }
    let weight = try constant(matrix.permuted([1, 0]), named: right, from: right)
    let (output, bias) = addedBias(node.outputs[0], count: rightShape[1])
    try linear(try operand(left), weight, bias: try bias.map { try operand($0) }, for: output)
  }

  /// The output of the addition that alone reads a product, and the bias that it adds; the product
  /// itself where there is none.
  private mutating func addedBias(_ value: String, count: Int) -> (output: String, bias: String?) {
    guard let (index, reader) = onlyReader(of: value), reader.qualifiedOp == "Add",
      let bias = reader.inputs.first(where: { $0 != value }),
      let constant = constant(bias), constant.shape == [count]
    else { return (value, nil) }
    absorb(index)
    return (reader.outputs[0], bias)
  }

  private mutating func linear(
    _ value: String, _ weight: String, bias: String?, for output: String
  ) throws {
    let rows = draft.types[weight]?.shape.first ?? 0
    let sum = try bias ?? constant(Tensor(zeros: [rows]), named: output + "/bias")
    try emit(
      "linear", [("x", .value(value)), ("weight", .value(weight)), ("bias", .value(sum))],
      for: output)
  }

  /// alpha * A * B + beta * C
  private mutating func layer(_ node: Node) throws {
    let alpha = try node.float("alpha", default: 1)
    let beta = try node.float("beta", default: 1)
    let flipsLeft = try node.int("transA", default: 0) != 0
    let flipsRight = try node.int("transB", default: 0) != 0
    var left = try operand(node.inputs[0])
    if flipsLeft { left = transposed(left, [1, 0]) }
    let output = node.outputs[0]
    let columns = try shape(output)[1]
    guard let matrix = constant(node.inputs[1]) else {
      return try product(node, left, flipsRight, alpha, beta)
    }
    var weight = flipsRight ? matrix : try matrix.permuted([1, 0])
    weight = try weight.multiplied(by: alpha)
    let name = node.inputs[1]
    let stored = try constant(weight, named: name, from: alpha == 1 ? name : nil)
    guard let addend = input(2, of: node) else {
      return try linear(left, stored, bias: nil, for: output)
    }
    if let bias = constant(addend), bias.elementCount == columns || bias.elementCount == 1,
      bias.shape.dropLast().allSatisfy({ $0 == 1 })
    {
      var values = try bias.multiplied(by: beta).values(as: Float.self)
      if values.count < columns { values = [Float](repeating: values[0], count: columns) }
      let sum = try constant(
        Tensor(values), named: addend,
        from: beta == 1 && bias.elementCount == columns ? addend : nil)
      return try linear(left, stored, bias: sum, for: output)
    }
    guard beta == 1 else { throw GraftError(.unsupported, "a factor of a computed addend") }
    let zeros = try constant(Tensor(zeros: [columns]), named: output + "/bias")
    let product = emit(
      "linear", [("x", .value(left)), ("weight", .value(stored)), ("bias", .value(zeros))],
      as: try type(output))
    try emit(
      "add", [("x", .value(product)), ("y", .value(try operand(addend)))], for: output)
  }

  private mutating func product(
    _ node: Node, _ left: String, _ flipsRight: Bool, _ alpha: Float, _ beta: Float
  ) throws {
    guard alpha == 1, beta == 1 else { throw GraftError(.unsupported, "factors of its products") }
    let arguments: [(name: String, value: CoreMLDraft.Argument)] = [
      ("x", .value(left)), ("y", .value(try operand(node.inputs[1]))),
      ("transpose_x", .bool(false)), ("transpose_y", .bool(flipsRight)),
    ]
    guard let addend = input(2, of: node) else {
      return try emit("matmul", arguments, for: node.outputs[0])
    }
    let product = emit("matmul", arguments, as: try type(node.outputs[0]))
    try emit(
      "add", [("x", .value(product)), ("y", .value(try operand(addend)))], for: node.outputs[0])
  }
}

extension Tensor {
  /// Floats times a factor; the tensor itself for 1.
  func multiplied(by factor: Float) throws -> Tensor {
    if factor == 1 { return self }
    return try Tensor(values(as: Float.self).map { $0 * factor }, shape: shape)
  }
}
