import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ProgramOperators {
  /// Matrix products and layers of them.
  static let productOperations: [String: Rule] = [
    "linear": { context, operation in
      let rank = try context.rank(operation)
      let x = try context.value(operation, "x")
      let weight = try context.value(operation, "weight")
      let bias = try context.optional(operation, "bias")
      if rank == 2 {
        let inputs = [x, weight] + (bias.map { [$0] } ?? [])
        return try context.finish(
          operation, context.graph.add("Gemm", inputs, ["transB": .int(1)]))
      }
      var value = context.graph.add(
        "MatMul", [x, context.graph.add("Transpose", [weight], ["perm": .ints([1, 0])])])
      if let bias { value = context.graph.add("Add", [value, bias]) }
      try context.finish(operation, value)
    },
    "matmul": { context, operation in
      var values: [String] = []
      for (parameter, flag) in [("x", "transpose_x"), ("y", "transpose_y")] {
        let value = try context.value(operation, parameter)
        guard try context.bool(operation, flag) else {
          values.append(value)
          continue
        }
        let rank = try context.rank(operation, parameter)
        guard rank >= 2 else { throw GraftError(.unsupported, "it transposes a vector") }
        values.append(
          context.graph.transposed(value, Array(0..<rank - 2) + [rank - 1, rank - 2]))
      }
      try context.finish(operation, context.graph.add("MatMul", values))
    },
    "einsum": { context, operation in
      let equation = try context.string(operation, "equation", "")
      let values = try context.values(operation, "values")
      try context.finish(
        operation,
        context.graph.add("Einsum", values, ["equation": .string(equation)]))
    },
    "scaled_dot_product_attention": { context, operation in
      let values = try ["query", "key", "value"].map { try context.value(operation, $0) }
      let rank = try context.rank(operation, "key")
      guard rank >= 3 else { throw GraftError(.damaged, "its key has \(rank) axes") }
      let size = context.graph.sizes(values[0], from: -1)
      let root = context.graph.add("Sqrt", [context.graph.cast(size, to: .float32)])
      let turned = context.graph.transposed(
        values[1], Array(0..<rank - 2) + [rank - 1, rank - 2])
      let product = context.graph.add("MatMul", [values[0], turned])
      var scores = context.graph.add("Div", [product, root])
      if let mask = try context.optional(operation, "attn_mask") {
        guard context.graph.elementType(mask) != .bool else {
          throw GraftError(.unsupported, "a mask of truth values")
        }
        scores = context.graph.add("Add", [scores, mask])
      }
      let shares = context.graph.add("Softmax", [scores], ["axis": .int(-1)])
      try context.finish(operation, context.graph.add("MatMul", [shares, values[2]]))
    },
    "conv": { context, operation in
      let weight = try context.value(operation, "weight")
      let rank = try context.rank(operation, "weight")
      let x = try context.value(operation, "x")
      let bias = try context.optional(operation, "bias")
      let window = try ProgramWindow(context, operation, axes: rank - 2)
      var attributes = window.attributes
      attributes["dilations"] = .ints(window.dilations)
      attributes["group"] = .int(try context.int(operation, "groups") ?? 1)
      let inputs = [x, weight] + (bias.map { [$0] } ?? [])
      try context.finish(operation, context.graph.add("Conv", inputs, attributes))
    },
    "conv_transpose": transposedConvolution,
  ]

  private static let transposedConvolution: Rule = { context, operation in
    let weight = try context.value(operation, "weight")
    let rank = try context.rank(operation, "weight")
    let x = try context.value(operation, "x")
    let bias = try context.optional(operation, "bias")
    let window = try ProgramWindow(context, operation, axes: rank - 2)
    var attributes = window.attributes
    attributes["dilations"] = .ints(window.dilations)
    attributes["group"] = .int(try context.int(operation, "groups") ?? 1)
    if let shape = try context.ints(operation, "output_shape") {
      guard shape.count == rank else {
        throw GraftError(.damaged, "its output shape is \(shape)")
      }
      attributes["output_shape"] = .ints(Array(shape.dropFirst(2)))
      // With a shape, explicit borders must lead to it; the surplus stands at the end.
      if window.pads.contains(where: { $0 != 0 }) {
        throw GraftError(.unsupported, "an output shape and explicit borders")
      }
      attributes["pads"] = nil
      if attributes["auto_pad"] == nil { attributes["auto_pad"] = .string("SAME_UPPER") }
    }
    let inputs = [x, weight] + (bias.map { [$0] } ?? [])
    try context.finish(operation, context.graph.add("ConvTranspose", inputs, attributes))
  }

  /// Poolings.
  static let windowOperations: [String: Rule] = [
    "max_pool": pool("MaxPool"), "avg_pool": pool("AveragePool"), "l2_pool": pool("LpPool"),
  ]

  private static func pool(_ op: String) -> Rule {
    { context, operation in
      let kernel = try context.ints(operation, "kernel_sizes").orThrow {
        GraftError(.damaged, "its kernel sizes are missing")
      }
      let x = try context.value(operation, "x")
      let window = try ProgramWindow(context, operation, axes: kernel.count)
      var attributes = window.attributes
      attributes["kernel_shape"] = .ints(kernel)
      if try context.bool(operation, "ceil_mode") { attributes["ceil_mode"] = .int(1) }
      if op == "AveragePool", try !context.bool(operation, "exclude_padding_from_average") {
        attributes["count_include_pad"] = .int(1)
      }
      try context.finish(operation, context.graph.add(op, [x], attributes))
    }
  }

  static let normalizationOperations: [String: Rule] = [
    "batch_norm": { context, operation in
      let x = try context.value(operation, "x")
      let (mean, variance) = (
        try context.value(operation, "mean"), try context.value(operation, "variance")
      )
      let gamma = try factor(&context, operation, "gamma", like: "mean", 1)
      let beta = try factor(&context, operation, "beta", like: "mean", 0)
      let epsilon = try context.float(operation, "epsilon", 1e-5)
      try context.finish(
        operation,
        context.graph.add(
          "BatchNormalization", [x, gamma, beta, mean, variance], ["epsilon": .float(epsilon)]))
    },
    "instance_norm": { context, operation in
      let x = try context.value(operation, "x")
      guard operation.has("gamma") || operation.has("beta") else {
        throw GraftError(.unsupported, "neither gamma nor beta")
      }
      let named = operation.has("gamma") ? "gamma" : "beta"
      let gamma = try factor(&context, operation, "gamma", like: named, 1)
      let beta = try factor(&context, operation, "beta", like: named, 0)
      let epsilon = try context.float(operation, "epsilon", 1e-5)
      try context.finish(
        operation,
        context.graph.add(
          "InstanceNormalization", [x, gamma, beta], ["epsilon": .float(epsilon)]))
    },
    "layer_norm": layerNormalization,
    "l2_norm": { context, operation in
      let epsilon = Double(try context.float(operation, "epsilon", 1e-6))
      let x = try context.value(operation, "x")
      let sum = context.graph.add(
        "ReduceSumSquare", [x, try context.graph.ints([-3, -2, -1])], ["keepdims": .int(1)])
      let shifted = context.graph.add("Add", [sum, try context.graph.number(epsilon)])
      try context.finish(
        operation, context.graph.add("Div", [x, context.graph.add("Sqrt", [shifted])]))
    },
    "local_response_norm": { context, operation in
      let attributes: [String: Attribute] = [
        "size": .int(try context.int(operation, "size") ?? 1),
        "alpha": .float(try context.float(operation, "alpha", 1e-4)),
        "beta": .float(try context.float(operation, "beta", 0.75)),
        "bias": .float(try context.float(operation, "k", 1)),
      ]
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add("LRN", [x], attributes))
    },
  ]

  /// A factor or summand of every channel; a constant one when it is left out.
  private static func factor(
    _ context: inout ProgramContext, _ operation: ProgramOperation, _ name: String,
    like other: String, _ standard: Float
  ) throws -> String {
    if let value = try context.optional(operation, name) { return value }
    let shape = try context.tensor(operation, other)?.shape ?? [1]
    let values = [Float](repeating: standard, count: try shape.checkedElementCount())
    return context.graph.initializer(try Tensor(values, shape: shape), named: name)
  }

  /// ONNX normalizes the last axes; others are brought there by composing the operator.
  private static let layerNormalization: Rule = { context, operation in
    let rank = try context.rank(operation)
    let x = try context.value(operation, "x")
    let epsilon = try context.float(operation, "epsilon", 1e-5)
    let given = try context.ints(operation, "axes") ?? Array(0..<rank)
    let axes = given.map { $0 < 0 ? $0 + rank : $0 }.sorted()
    guard let first = axes.first, axes.allSatisfy({ 0..<rank ~= $0 }) else {
      throw GraftError(.damaged, "its axes are \(given)")
    }
    let gamma = try context.optional(operation, "gamma")
    let beta = try context.optional(operation, "beta")
    if let gamma, axes == Array(first..<rank) {
      return try context.finish(
        operation,
        context.graph.add(
          "LayerNormalization", [x, gamma] + (beta.map { [$0] } ?? []),
          ["axis": .int(first - rank), "epsilon": .float(epsilon)]))
    }
    var value = try context.graph.standardized(x, axes: axes, epsilon: Double(epsilon))
    let others = (first..<rank).filter { !axes.contains($0) }.map { $0 - first }
    for (op, parameter) in [("Mul", gamma), ("Add", beta)] {
      guard var parameter else { continue }
      if !others.isEmpty {
        parameter = context.graph.add(
          "Unsqueeze", [parameter, try context.graph.ints(others)])
      }
      value = context.graph.add(op, [value, parameter])
    }
    try context.finish(operation, value)
  }
}

/// Strides, dilations and borders of an operation with windows.
private struct ProgramWindow {
  let strides: [Int]
  let dilations: [Int]
  /// Before every axis, then behind it.
  private(set) var pads: [Int]
  private var automatic: String?

  init(_ context: ProgramContext, _ operation: ProgramOperation, axes: Int) throws {
    guard (1...3).contains(axes) else {
      throw GraftError(.damaged, "windows of \(axes) axes")
    }
    let ones = Array(repeating: 1, count: axes)
    strides = try context.ints(operation, "strides") ?? ones
    dilations = try context.ints(operation, "dilations") ?? ones
    pads = Array(repeating: 0, count: 2 * axes)
    switch try context.string(operation, "pad_type", "valid") {
    case "same": automatic = "SAME_UPPER"
    case "same_lower": automatic = "SAME_LOWER"
    case "custom":
      let amounts = try context.ints(operation, "pad") ?? pads
      guard amounts.count == 2 * axes else {
        throw GraftError(.damaged, "its borders are \(amounts)")
      }
      pads = (0..<axes).map { amounts[2 * $0] } + (0..<axes).map { amounts[2 * $0 + 1] }
    default: break
    }
    guard strides.count == axes, dilations.count == axes else {
      throw GraftError(.damaged, "strides \(strides), dilations \(dilations) for \(axes) axes")
    }
  }

  var attributes: [String: Attribute] {
    var attributes: [String: Attribute] = ["strides": .ints(strides)]
    if let automatic {
      attributes["auto_pad"] = .string(automatic)
    } else {
      attributes["pads"] = .ints(pads)
    }
    return attributes
  }
}
