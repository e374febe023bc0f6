import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let scatterRules: [String: Rule] = [
    "SCATTER_ND": { context, operation in
      let indices = try context.int64(try context.input(0, of: operation))
      let shape = try context.int64(try context.input(2, of: operation))
      try scatter(
        &context, operation, values: 1, at: indices, shape: shape, startingWith: 0,
        reduction: "add")
    },
    "UNSORTED_SEGMENT_SUM": segments(startingWith: 0, "add"),
    "UNSORTED_SEGMENT_PROD": segments(startingWith: 1, "mul"),
    "BROADCAST_ARGS": { context, operation in
      // The shape that two shapes broadcast to.
      let shapes = try (0..<2).map { index in
        context.add(
          "Expand",
          [
            try context.scalar(0, like: context.input(index, of: operation)),
            try context.int64(try context.input(index, of: operation)),
          ])
      }
      let output = try context.output(0, of: operation)
      let shape = context.add("Shape", [context.add("Add", shapes)])
      context.bind(try context.indices(shape, as: output), to: output)
    },
  ]

  /// Rows with one number each are combined: inputs values, numbers, how many there are.
  private static func segments(startingWith start: Int, _ reduction: String) -> Rule {
    { context, operation in
      let values = try context.input(0, of: operation)
      guard try context.input(1, of: operation).shape?.count == 1 else {
        throw GraftError(.unsupported, "segment numbers that are no vector")
      }
      let rows = context.add(
        "Unsqueeze",
        [try context.int64(try context.input(1, of: operation)), try context.ints([1])])
      let count = context.add(
        "Reshape", [try context.int64(try context.input(2, of: operation)), try context.ints([1])])
      let rest = context.add("Shape", [try context.stored(values)], ["start": .int(1)])
      try scatter(
        &context, operation, values: 0, at: rows,
        shape: context.add("Concat", [count, rest], ["axis": .int(0)]), startingWith: start,
        reduction: reduction)
    }
  }

  private static func scatter(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, values: Int, at indices: String,
    shape: String, startingWith start: Int, reduction: String
  ) throws {
    let updates = try context.input(values, of: operation)
    let output = try context.output(0, of: operation)
    let isReal = context.isReal(output)
    let value = context.add(
      "ScatterND",
      [
        context.add("Expand", [try context.scalar(start, like: output), shape]), indices,
        isReal ? try context.float(updates) : try context.stored(updates),
      ], ["reduction": .string(reduction)])
    if isReal { return try context.store(value, as: output) }
    context.bind(value, to: output)
  }
}
