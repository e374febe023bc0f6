import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let normalizationRules: [String: Rule] = [
    "BatchNormalization": { try $0.batchNormalization($1) },
    "InstanceNormalization": { try $0.instanceNormalization($1) },
    "LayerNormalization": { try $0.layerNormalization($1) },
    "Softmax": { try $0.softmax($1, isLog: false) },
    "LogSoftmax": { try $0.softmax($1, isLog: true) },
  ]

  static let reductionRules: [String: Rule] = {
    var rules: [String: Rule] = [
      "ArgMax": { try $0.place($1, "reduce_argmax") },
      "ArgMin": { try $0.place($1, "reduce_argmin") },
    ]
    for (op, type) in [
      ("Mean", "mean"), ("Sum", "sum"), ("Max", "max"), ("Min", "min"), ("Prod", "prod"),
      ("L1", "l1_norm"), ("L2", "l2_norm"), ("SumSquare", "sum_square"), ("LogSum", "log_sum"),
      ("LogSumExp", "log_sum_exp"),
    ] {
      rules["Reduce" + op] = { try $0.reduction($1, "reduce_" + type) }
    }
    return rules
  }()

  private mutating func batchNormalization(_ node: Node) throws {
    let numbers = try (1...4).map { try constantInput($0, of: node).values(as: Float.self) }
    guard node.outputs.dropFirst().allSatisfy({ !isRead($0) }) else {
      throw GraftError(.unsupported, "statistics of the batch")
    }
    let epsilon = try node.float("epsilon", default: 1e-5)
    let value = try operand(node.inputs[0])
    let shape = try shape(node.inputs[0])
    if shape.rank == 4 {
      let names = ["gamma", "beta", "mean", "variance"]
      var arguments: [(name: String, value: CoreMLDraft.Argument)] = [("x", .value(value))]
      for (index, name) in names.enumerated() {
        arguments.append((name, .value(try operand(node.inputs[index + 1]))))
      }
      arguments.append(("epsilon", .number(epsilon)))
      return try emit("batch_norm", arguments, for: node.outputs[0])
    }
    let factors = zip(numbers[0], numbers[3]).map { $0 / ($1 + epsilon).squareRoot() }
    let shifts = zip(numbers[1], zip(numbers[2], factors)).map { $0 - $1.0 * $1.1 }
    let form = Shape([factors.count] + [Int](repeating: 1, count: max(0, shape.rank - 2)))
    let scaled = emit(
      "mul", [("x", .value(value)), ("y", try vector(factors, form))],
      as: try type(node.inputs[0]))
    try emit(
      "add", [("x", .value(scaled)), ("y", try vector(shifts, form))], for: node.outputs[0])
  }

  private mutating func instanceNormalization(_ node: Node) throws {
    let shape = try shape(node.inputs[0])
    guard (3...4).contains(shape.rank) else {
      throw GraftError(.unsupported, "values of \(shape.rank) axes")
    }
    _ = try (constantInput(1, of: node), constantInput(2, of: node))
    // A sequence is a picture of height 1.
    let wide = shape.rank == 4 ? shape : [shape[0], shape[1], 1, shape[2]]
    let value = reshaped(try operand(node.inputs[0]), wide)
    let arguments: [(name: String, value: CoreMLDraft.Argument)] = [
      ("x", .value(value)), ("gamma", .value(try operand(node.inputs[1]))),
      ("beta", .value(try operand(node.inputs[2]))),
      ("epsilon", .number(try node.float("epsilon", default: 1e-5))),
    ]
    guard shape.rank == 3 else {
      return try emit("instance_norm", arguments, for: node.outputs[0])
    }
    let result = emit("instance_norm", arguments, as: TensorType(.float32, wide))
    try emit(
      "reshape", [("x", .value(result)), ("shape", .ints(shape.dimensions))],
      for: node.outputs[0])
  }

  private mutating func layerNormalization(_ node: Node) throws {
    guard node.outputs.dropFirst().allSatisfy({ !isRead($0) }) else {
      throw GraftError(.unsupported, "its mean or deviation as a result")
    }
    let shape = try shape(node.inputs[0])
    let axis = try node.int("axis", default: -1)
    let first = axis < 0 ? axis + shape.rank : axis
    let normalized = Shape(Array(shape.dimensions.dropFirst(first)))
    let gamma = try constantInput(1, of: node)
    guard gamma.shape == normalized else {
      throw GraftError(.unsupported, "factors of another shape than \(normalized)")
    }
    var beta = try vector([Float](repeating: 0, count: normalized.elementCount), normalized)
    if input(2, of: node) != nil {
      _ = try constantInput(2, of: node)
      beta = .value(try operand(node.inputs[2]))
    }
    try emit(
      "layer_norm",
      [
        ("x", .value(try operand(node.inputs[0]))),
        ("axes", .ints(Array(first - shape.rank..<0))),
        ("gamma", .value(try operand(node.inputs[1]))), ("beta", beta),
        ("epsilon", .number(try node.float("epsilon", default: 1e-5))),
      ], for: node.outputs[0])
  }

  private mutating func softmax(_ node: Node, isLog: Bool) throws {
    let rank = try shape(node.inputs[0]).rank
    let axis = try node.int("axis", default: -1)
    let arguments: [(name: String, value: CoreMLDraft.Argument)] = [
      ("x", .value(try operand(node.inputs[0]))), ("axis", .int(axis < 0 ? axis + rank : axis)),
    ]
    guard isLog else { return try emit("softmax", arguments, for: node.outputs[0]) }
    let shares = emit("softmax", arguments, as: try type(node.inputs[0]))
    try emit("log", [("x", .value(shares)), ("epsilon", .number(0))], for: node.outputs[0])
  }

  private mutating func reduction(_ node: Node, _ type: String) throws {
    guard try isFloat(node.inputs[0]) else { throw GraftError(.unsupported, "whole numbers") }
    let rank = try shape(node.inputs[0]).rank
    let given = try constantInts(1, of: node) ?? node.ints("axes", default: [])
    if given.isEmpty, try node.int("noop_with_empty_axes", default: 0) != 0 {
      throw GraftError(.unsupported, "a reduction along no axis")
    }
    let axes = given.isEmpty ? Array(0..<rank) : given.map { $0 < 0 ? $0 + rank : $0 }.sorted()
    let keeps = try node.int("keepdims", default: 1) != 0
    guard keeps || axes.count < rank else {
      throw GraftError(.unsupported, "a result without axes")
    }
    try emit(
      type,
      [
        ("x", .value(try operand(node.inputs[0]))), ("axes", .ints(axes)),
        ("keep_dims", .bool(keeps)),
      ], for: node.outputs[0])
  }

  private mutating func place(_ node: Node, _ type: String) throws {
    guard try node.int("select_last_index", default: 0) == 0 else {
      throw GraftError(.unsupported, "the last of equal numbers")
    }
    let rank = try shape(node.inputs[0]).rank
    let axis = try node.int("axis", default: 0)
    try emit(
      type,
      [
        ("x", .value(try operand(node.inputs[0]))), ("axis", .int(axis < 0 ? axis + rank : axis)),
        ("keep_dims", .bool(try node.int("keepdims", default: 1) != 0)),
      ], for: node.outputs[0])
  }
}
