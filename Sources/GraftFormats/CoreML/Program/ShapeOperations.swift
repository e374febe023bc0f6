import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ProgramOperators {
  static let reductionOperations: [String: Rule] = {
    var table: [String: Rule] = [:]
    let operators = [
      "reduce_l1_norm": "ReduceL1", "reduce_l2_norm": "ReduceL2", "reduce_max": "ReduceMax",
      "reduce_min": "ReduceMin", "reduce_mean": "ReduceMean", "reduce_sum": "ReduceSum",
      "reduce_prod": "ReduceProd", "reduce_log_sum": "ReduceLogSum",
      "reduce_log_sum_exp": "ReduceLogSumExp", "reduce_sum_square": "ReduceSumSquare",
    ]
    for (kind, op) in operators {
      table[kind] = { context, operation in
        let keeps = try context.bool(operation, "keep_dims")
        let axes = try context.ints(operation, "axes")
        let x = try context.value(operation, "x")
        let inputs = [x] + (try axes.map { [try context.graph.ints($0)] } ?? [])
        try context.finish(
          operation, context.graph.add(op, inputs, ["keepdims": .int(keeps ? 1 : 0)]))
      }
    }
    for (kind, op) in ["reduce_argmax": "ArgMax", "reduce_argmin": "ArgMin"] {
      table[kind] = { context, operation in
        let attributes: [String: Attribute] = [
          "axis": .int(try context.int(operation, "axis") ?? -1),
          "keepdims": .int(try context.bool(operation, "keep_dims") ? 1 : 0),
        ]
        let x = try context.value(operation, "x")
        try context.finish(operation, context.graph.add(op, [x], attributes))
      }
    }
    return table
  }()

  /// Operations that change the shape of values, or put values together.
  static let shapeOperations: [String: Rule] = [
    "reshape": { context, operation in
      let x = try context.value(operation, "x")
      let shape = try context.value(operation, "shape")
      try context.finish(operation, context.graph.add("Reshape", [x, shape]))
    },
    "transpose": { context, operation in
      let x = try context.value(operation, "x")
      let order = try context.ints(operation, "perm").orThrow {
        GraftError(.damaged, "the order of the axes is missing")
      }
      let axes = order.map { $0 < 0 ? $0 + order.count : $0 }
      try context.finish(
        operation, context.graph.add("Transpose", [x], ["perm": .ints(axes)]))
    },
    "expand_dims": axes("Unsqueeze"),
    "squeeze": axes("Squeeze"),
    "concat": { context, operation in
      guard try !context.bool(operation, "interleave") else {
        throw GraftError(.unsupported, "interleaving")
      }
      let axis = try context.int(operation, "axis") ?? 0
      let values = try context.values(operation, "values")
      try context.finish(
        operation, context.graph.add("Concat", values, ["axis": .int(axis)]))
    },
    "stack": { context, operation in
      let axis = try context.int(operation, "axis") ?? 0
      let axes = try context.graph.ints([axis])
      let values = try context.values(operation, "values").map {
        context.graph.add("Unsqueeze", [$0, axes])
      }
      try context.finish(
        operation, context.graph.add("Concat", values, ["axis": .int(axis)]))
    },
    "split": { context, operation in
      let axis = try context.int(operation, "axis") ?? 0
      var inputs = [try context.value(operation, "x")]
      var attributes: [String: Attribute] = ["axis": .int(axis)]
      if let sizes = try context.ints(operation, "split_sizes") {
        inputs.append(try context.graph.ints(sizes))
      } else {
        attributes["num_outputs"] = .int(operation.outputs.count)
      }
      let parts = context.graph.add("Split", inputs, attributes, outputs: operation.outputs)
      for (name, part) in zip(operation.outputs, parts) { context.bind(name, part) }
    },
    "tile": { context, operation in
      let x = try context.value(operation, "x")
      let counts = try context.value(operation, "reps")
      try context.finish(operation, context.graph.add("Tile", [x, counts]))
    },
    "flatten2d": { context, operation in
      let axis = try context.int(operation, "axis") ?? 1
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add("Flatten", [x], ["axis": .int(axis)]))
    },
    "shape": { context, operation in
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.sizes(x, from: 0))
    },
    "fill": { context, operation in
      let value = try context.value(operation, "value")
      let shape = try context.value(operation, "shape")
      try context.finish(operation, context.graph.add("Expand", [value, shape]))
    },
    "fill_like": { context, operation in
      let value = try context.value(operation, "value")
      let like = try context.value(operation, "ref_tensor")
      let rank = context.graph.rank(like)
      let filled = context.graph.add("Expand", [value, context.graph.sizes(like, from: 0)])
      context.graph.declare(
        filled, KnownType(elementType: context.graph.elementType(value), rank: rank))
      try context.finish(operation, filled)
    },
    "range_1d": { context, operation in
      let ends = try ["start", "end", "step"].map { try context.value(operation, $0) }
      try context.finish(operation, context.graph.add("Range", ends))
    },
    "depth_to_space": blocks("DepthToSpace", "block_size", [:]),
    "space_to_depth": blocks("SpaceToDepth", "block_size", [:]),
    "pixel_shuffle": blocks("DepthToSpace", "upscale_factor", ["mode": .string("CRD")]),
    "pad": pad,
  ]

  private static func axes(_ op: String) -> Rule {
    { context, operation in
      let axes = try context.ints(operation, "axes")
      let x = try context.value(operation, "x")
      let inputs = [x] + (try axes.map { [try context.graph.ints($0)] } ?? [])
      try context.finish(operation, context.graph.add(op, inputs))
    }
  }

  private static func blocks(
    _ op: String, _ parameter: String, _ attributes: [String: Attribute]
  ) -> Rule {
    { context, operation in
      var attributes = attributes
      attributes["blocksize"] = .int(try context.int(operation, parameter) ?? 1)
      let x = try context.value(operation, "x")
      try context.finish(operation, context.graph.add(op, [x], attributes))
    }
  }

  /// Amounts for the last axes, before and behind each.
  private static let pad: Rule = { context, operation in
    let amounts = try context.ints(operation, "pad").orThrow {
      GraftError(.damaged, "the amounts are missing")
    }
    guard amounts.count % 2 == 0 else { throw GraftError(.damaged, "its amounts are \(amounts)") }
    let modes = ["constant": "constant", "reflect": "reflect", "replicate": "edge"]
    let name = try context.string(operation, "mode", "constant")
    let mode = try modes[name].orThrow { GraftError(.unsupported, "its mode is '\(name)'") }
    let count = amounts.count / 2
    let pads = (0..<count).map { amounts[2 * $0] } + (0..<count).map { amounts[2 * $0 + 1] }
    let x = try context.value(operation, "x")
    let constant =
      mode == "constant" && context.graph.elementType(x) == .float32
      ? try context.graph.number(Double(try context.float(operation, "constant_val", 0))) : ""
    let axes = try context.graph.ints((0..<count).map { $0 - count })
    try context.finish(
      operation,
      context.graph.add(
        "Pad", [x, try context.graph.ints(pads), constant, axes], ["mode": .string(mode)]))
  }

  /// Operations that take parts of values by bounds.
  static let sliceOperations: [String: Rule] = [
    "slice_by_index": { context, operation in
      let x = try context.value(operation, "x")
      let begins = try context.ints(operation, "begin").orThrow {
        GraftError(.damaged, "the begins are missing")
      }
      func mask(_ name: String) throws -> [Bool] {
        try context.ints(operation, name)?.map { $0 != 0 } ?? []
      }
      let bounds = try SliceBounds(
        begins: begins, ends: try context.ints(operation, "end") ?? [],
        strides: try context.ints(operation, "stride") ?? [], beginMasks: try mask("begin_mask"),
        endMasks: try mask("end_mask"), squeezes: try mask("squeeze_mask"))
      try context.finish(operation, try context.graph.sliced(x, bounds))
    },
    "slice_by_size": { context, operation in
      let x = try context.value(operation, "x")
      let begin = try context.value(operation, "begin")
      let sizes = try context.ints(operation, "size").orThrow {
        GraftError(.damaged, "the sizes are missing")
      }
      guard sizes.allSatisfy({ $0 >= -1 }) else {
        throw GraftError(.damaged, "its sizes are \(sizes)")
      }
      let far = sizes.map { $0 == -1 ? Int(Int32.max) : $0 }
      let end = context.graph.add("Add", [begin, try context.graph.ints(far)])
      try context.finish(operation, context.graph.add("Slice", [x, begin, end]))
    },
    "reverse": { context, operation in
      let rank = try context.rank(operation)
      let axes = try context.ints(operation, "axes") ?? Array(0..<rank)
      let ones = axes.map { _ in -1 }
      let x = try context.value(operation, "x")
      try context.finish(
        operation,
        context.graph.add(
          "Slice",
          [
            x, try context.graph.ints(ones),
            try context.graph.ints(axes.map { _ in Int(Int32.min) }),
            try context.graph.ints(axes), try context.graph.ints(ones),
          ]))
    },
    "crop": { context, operation in
      let heights = try context.ints(operation, "crop_height") ?? [0, 0]
      let widths = try context.ints(operation, "crop_width") ?? [0, 0]
      guard heights.count == 2, widths.count == 2 else {
        throw GraftError(.damaged, "its borders are \(heights) and \(widths)")
      }
      let ends = [heights[1], widths[1]].map { $0 == 0 ? Int(Int32.max) : 0 &- $0 }
      let x = try context.value(operation, "x")
      try context.finish(
        operation,
        context.graph.add(
          "Slice",
          [
            x, try context.graph.ints([heights[0], widths[0]]), try context.graph.ints(ends),
            try context.graph.ints([-2, -1]),
          ]))
    },
  ]
}
