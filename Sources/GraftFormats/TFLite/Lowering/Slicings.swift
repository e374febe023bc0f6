import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let slicings: [String: Rule] = [
    "SLICE": slice,
    "STRIDED_SLICE": stridedSlice,
    "REVERSE_V2": { context, operation in
      let input = try context.input(0, of: operation)
      let axes = try context.requiredInts(1, of: operation).map { try context.axis($0, of: input) }
      try context.move(operation) { context, value in
        let ends = axes.map { _ in -Int(Int32.max) }
        let steps = axes.map { _ in -1 }
        return context.add(
          "Slice",
          [
            value, try context.ints(steps), try context.ints(ends), try context.ints(axes),
            try context.ints(steps),
          ])
      }
    },
    "REVERSE_SEQUENCE": { context, operation in
      let lengths = try context.int64(try context.input(1, of: operation))
      let attributes: [String: Attribute] = [
        "time_axis": .int(try operation.int(0)),
        "batch_axis": .int(try operation.int(1)),
      ]
      try context.move(operation) { context, value in
        context.add("ReverseSequence", [value, lengths], attributes)
      }
    },
  ]

  /// Further than any axis reaches.
  static let end = Int(Int32.max)

  private static let slice: Rule = { context, operation in
    let starts = try context.input(1, of: operation)
    let sizes = try context.input(2, of: operation)
    let begin = try context.int64(starts)
    let ends: String
    if let first = try context.constantInts(starts), let counts = try context.constantInts(sizes),
      first.count == counts.count
    {
      ends = try context.ints(zip(first, counts).map { $1 < 0 ? end : $0 &+ $1 })
    } else {
      let counts = try context.int64(sizes)
      let isOpen = context.add("Less", [counts, try context.ints([0])])
      ends = context.add(
        "Where", [isOpen, try context.ints([end]), context.add("Add", [begin, counts])])
    }
    try context.move(operation) { context, value in context.add("Slice", [value, begin, ends]) }
  }

  private static let stridedSlice: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let plan = try StridedSlice(operation, &context)
    try context.move(operation) { context, value in try plan.apply(to: value, &context) }
  }
}
