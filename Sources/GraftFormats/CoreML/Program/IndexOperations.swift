import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ProgramOperators {
  /// Operations that choose parts of values by their places.
  static let indexOperations: [String: Rule] = [
    "gather": gather("Gather"),
    "gather_along_axis": gather("GatherElements"),
    "gather_nd": { context, operation in
      let batch = try context.int(operation, "batch_dims") ?? 0
      let x = try context.value(operation, "x")
      let places = context.graph.cast(try context.value(operation, "indices"), to: .int64)
      try context.finish(
        operation, context.graph.add("GatherND", [x, places], ["batch_dims": .int(batch)]))
    },
    "scatter_nd": { context, operation in
      let reduction = try reduction(context, operation)
      let data = try context.value(operation, "data")
      let places = context.graph.cast(try context.value(operation, "indices"), to: .int64)
      let updates = try context.value(operation, "updates")
      try context.finish(
        operation, context.graph.add("ScatterND", [data, places, updates], reduction))
    },
    "scatter_along_axis": { context, operation in
      var attributes = try reduction(context, operation)
      attributes["axis"] = .int(try context.int(operation, "axis") ?? 0)
      let data = try context.value(operation, "data")
      let places = context.graph.cast(try context.value(operation, "indices"), to: .int64)
      let updates = try context.value(operation, "updates")
      try context.finish(
        operation, context.graph.add("ScatterElements", [data, places, updates], attributes))
    },
    "one_hot": { context, operation in
      let size = try context.int(operation, "one_hot_vector_size").orThrow {
        GraftError(.unsupported, "a computed number of places")
      }
      let pair = try Tensor([
        try context.float(operation, "off_value", 0), try context.float(operation, "on_value", 1),
      ])
      let axis = try context.int(operation, "axis") ?? -1
      let places = context.graph.cast(try context.value(operation, "indices"), to: .int64)
      let values = context.graph.initializer(pair, named: "off_on")
      try context.finish(
        operation,
        context.graph.add(
          "OneHot", [places, try context.graph.int(size), values], ["axis": .int(axis)]))
    },
    "topk": { context, operation in
      let attributes: [String: Attribute] = [
        "axis": .int(try context.int(operation, "axis") ?? -1),
        "largest": .int(try context.bool(operation, "ascending") ? 0 : 1),
      ]
      let count = try context.int(operation, "k") ?? 1
      let x = try context.value(operation, "x")
      let results = context.graph.add(
        "TopK", [x, try context.graph.ints([count])], attributes, outputs: ["values", "places"])
      context.graph.declare(results[1], KnownType(elementType: .int64, rank: context.graph.rank(x)))
      for (index, value) in results.enumerated() where index < operation.outputs.count {
        context.bind(operation.outputs[index], value)
      }
    },
    "argsort": { context, operation in
      let axis = try context.int(operation, "axis") ?? -1
      let isAscending = try context.bool(operation, "ascending")
      let x = try context.value(operation, "x")
      let all = context.graph.sizes(x, from: axis, to: axis == -1 ? nil : axis &+ 1)
      let results = context.graph.add(
        "TopK", [x, all], ["axis": .int(axis), "largest": .int(isAscending ? 0 : 1)],
        outputs: ["", "places"])
      context.graph.declare(results[1], KnownType(elementType: .int64, rank: context.graph.rank(x)))
      try context.finish(operation, results[1])
    },
    "cumsum": { context, operation in
      let attributes: [String: Attribute] = [
        "exclusive": .int(try context.bool(operation, "exclusive") ? 1 : 0),
        "reverse": .int(try context.bool(operation, "reverse") ? 1 : 0),
      ]
      let axis = try context.int(operation, "axis") ?? 0
      let x = try context.value(operation, "x")
      try context.finish(
        operation, context.graph.add("CumSum", [x, try context.graph.int(axis)], attributes))
    },
    "band_part": { context, operation in
      var value = try context.value(operation, "x")
      let lower = try context.int(operation, "lower") ?? -1
      let upper = try context.int(operation, "upper") ?? -1
      if lower >= 0 {
        value = context.graph.add(
          "Trilu", [value, try context.graph.int(-lower)], ["upper": .int(1)])
      }
      if upper >= 0 {
        value = context.graph.add(
          "Trilu", [value, try context.graph.int(upper)], ["upper": .int(0)])
      }
      try context.finish(operation, context.graph.add("Identity", [value]))
    },
    "non_zero": { context, operation in
      let x = try context.value(operation, "x")
      let places = context.graph.add("NonZero", [x])
      try context.finish(operation, context.graph.transposed(places, [1, 0]))
    },
  ]

  private static func gather(_ op: String) -> Rule {
    { context, operation in
      guard try context.int(operation, "batch_dims") ?? 0 == 0 else {
        throw GraftError(.unsupported, "axes of a batch")
      }
      let axis = try context.int(operation, "axis") ?? 0
      let x = try context.value(operation, "x")
      let places = context.graph.cast(try context.value(operation, "indices"), to: .int64)
      try context.finish(
        operation, context.graph.add(op, [x, places], ["axis": .int(axis)]))
    }
  }

  private static func reduction(_ context: ProgramContext, _ operation: ProgramOperation) throws
    -> [String: Attribute]
  {
    let names = ["update": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"]
    let mode = try context.string(operation, "mode", "add")
    let name = try names[mode].orThrow { GraftError(.unsupported, "its mode is '\(mode)'") }
    return ["reduction": .string(name)]
  }

  /// Pictures in other sizes.
  static let resizeOperations: [String: Rule] = [
    "upsample_nearest_neighbor": { context, operation in
      try scale(
        &context, operation, ["mode": .string("nearest"), "nearest_mode": .string("floor")],
        "asymmetric")
    },
    "upsample_bilinear": { context, operation in
      let isAligned = try context.int(operation, "align_corners") ?? 1 != 0
      let half = try context.bool(operation, "half_pixel_centers")
      guard isAligned || half || !operation.has("half_pixel_centers") else {
        return try scale(&context, operation, ["mode": .string("linear")], "asymmetric")
      }
      try scale(
        &context, operation, ["mode": .string("linear")],
        isAligned ? "align_corners" : "half_pixel")
    },
    "resize_nearest_neighbor": { context, operation in
      let sizes = try targets(context, operation)
      let x = try context.value(operation, "x")
      let attributes: [String: Attribute] = [
        "mode": .string("nearest"), "nearest_mode": .string("floor"),
        "coordinate_transformation_mode": .string("asymmetric"), "axes": .ints([-2, -1]),
      ]
      try context.finish(
        operation,
        context.graph.add("Resize", [x, "", "", try context.graph.ints(sizes)], attributes))
    },
    "resize_bilinear": { context, operation in
      let sizes = try targets(context, operation)
      let modes = [
        "STRICT_ALIGN_CORNERS": 0, "ALIGN_CORNERS": 1, "DEFAULT": 2, "OFFSET_CORNERS": 3,
      ]
      let name = try context.string(operation, "sampling_mode", "DEFAULT")
      let x = try context.value(operation, "x")
      guard try context.rank(operation) == 4 else {
        throw GraftError(.unsupported, "a value of other than four axes")
      }
      if name == "UNALIGN_CORNERS" {
        let attributes: [String: Attribute] = [
          "mode": .string("linear"), "axes": .ints([2, 3]),
          "coordinate_transformation_mode": .string("half_pixel"),
        ]
        return try context.finish(
          operation,
          context.graph.add("Resize", [x, "", "", try context.graph.ints(sizes)], attributes))
      }
      let mode = try modes[name].orThrow { GraftError(.unsupported, "its mode is '\(name)'") }
      try context.finish(operation, try context.graph.resizedLinearly(x, sizes, mode: mode))
    },
  ]

  private static func targets(_ context: ProgramContext, _ operation: ProgramOperation) throws
    -> [Int]
  {
    try ["target_size_height", "target_size_width"].map { name in
      try context.int(operation, name).orThrow { GraftError(.damaged, "'\(name)' is missing") }
    }
  }

  private static func scale(
    _ context: inout ProgramContext, _ operation: ProgramOperation,
    _ attributes: [String: Attribute], _ coordinates: String
  ) throws {
    let factors = try ["scale_factor_height", "scale_factor_width"].map {
      try context.float(operation, $0, 1)
    }
    let rank = try context.rank(operation)
    guard rank >= 2 else { throw GraftError(.damaged, "it has \(rank) axes") }
    var attributes = attributes
    attributes["coordinate_transformation_mode"] = .string(coordinates)
    let scales = try Tensor([Float](repeating: 1, count: rank - 2) + factors)
    let x = try context.value(operation, "x")
    let value = context.graph.initializer(scales, named: "scales")
    try context.finish(operation, context.graph.add("Resize", [x, "", value], attributes))
  }
}
