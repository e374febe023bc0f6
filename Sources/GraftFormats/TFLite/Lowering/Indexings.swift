import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let indexings: [String: Rule] = [
    "GATHER": gather,
    "GATHER_ND": { context, operation in
      let indices = try context.int64(try context.input(1, of: operation))
      try context.move(operation) { context, value in context.add("GatherND", [value, indices]) }
    },
    "EMBEDDING_LOOKUP": { context, operation in
      let rows = try context.stored(try context.input(0, of: operation))
      try context.move(operation, input: 1) { context, value in
        context.add("Gather", [value, rows], ["axis": .int(0)])
      }
    },
    "TOPK_V2": { context, operation in
      let input = try context.input(0, of: operation)
      let count = context.add(
        "Reshape", [try context.int64(try context.input(1, of: operation)), try context.ints([1])])
      let isStored =
        context.sharesQuantization([input, try context.output(0, of: operation)])
        && input.elementType != .int16
      let results = context.add(
        "TopK", [isStored ? try context.stored(input) : try context.float(input), count],
        outputCount: 2)
      let indices = try context.output(1, of: operation)
      let values = try context.output(0, of: operation)
      if isStored {
        context.bind(results[0], to: values)
      } else {
        try context.store(results[0], as: values)
      }
      context.bind(try context.indices(results[1], as: indices), to: indices)
    },
    "ONE_HOT": { context, operation in
      let axis = try operation.int(0)
      let indices = try context.stored(try context.input(0, of: operation))
      let depth = try context.int64(try context.input(1, of: operation))
      let (on, off) = (try context.input(2, of: operation), try context.input(3, of: operation))
      let axes = try context.ints([0])
      try context.move([off, on], to: [try context.output(0, of: operation)]) { context, values in
        let pair = context.add(
          "Concat", values.map { context.add("Unsqueeze", [$0, axes]) }, ["axis": .int(0)])
        return [context.add("OneHot", [indices, depth, pair], ["axis": .int(axis)])]
      }
    },
    "WHERE": { context, operation in
      let input = try context.input(0, of: operation)
      let places = context.add("NonZero", [try context.stored(input)])
      let output = try context.output(0, of: operation)
      let rows = context.add("Transpose", [places], ["perm": .ints([1, 0])])
      context.bind(try context.indices(rows, as: output), to: output)
    },
  ]

  private static let gather: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let indices = try context.input(1, of: operation)
    let axis = try operation.int(0)
    let batchAxes = try operation.int(1)
    if batchAxes == 0 {
      let places = try context.stored(indices)
      return try context.move(operation) { context, value in
        context.add("Gather", [value, places], ["axis": .int(axis)])
      }
    }
    guard batchAxes > 0, try context.axis(axis, of: input) == batchAxes else {
      throw GraftError(.unsupported, "\(batchAxes) batch axes and axis \(axis)")
    }
    let tuples = context.add(
      "Unsqueeze", [try context.int64(indices), try context.ints([-1])])
    try context.move(operation) { context, value in
      context.add("GatherND", [value, tuples], ["batch_dims": .int(batchAxes)])
    }
  }
}
