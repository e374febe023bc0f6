import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let reshapings: [String: Rule] = [
    "RESHAPE": reshape,
    "SQUEEZE": squeeze,
    "EXPAND_DIMS": { context, operation in
      let axes = try context.requiredInts(1, of: operation)
      try context.move(operation) { context, value in
        context.add("Unsqueeze", [value, try context.ints(axes)])
      }
    },
    "TRANSPOSE": { context, operation in
      let order = try context.requiredInts(1, of: operation)
      guard order.sorted() == Array(order.indices) else {
        throw GraftError(.damaged, "\(order) is no order of axes")
      }
      try context.move(operation) { context, value in
        context.add("Transpose", [value], ["perm": .ints(order)])
      }
    },
    "SHAPE": { context, operation in
      let shape = context.add("Shape", [try context.stored(try context.input(0, of: operation))])
      let output = try context.output(0, of: operation)
      context.bind(try context.indices(shape, as: output), to: output)
    },
    "RANK": { context, operation in
      let shape = context.add("Shape", [try context.stored(try context.input(0, of: operation))])
      let output = try context.output(0, of: operation)
      context.bind(try context.indices(context.add("Size", [shape]), as: output), to: output)
    },
    "BROADCAST_TO": { context, operation in
      let shape = try context.int64(try context.input(1, of: operation))
      try context.move(operation) { context, value in context.add("Expand", [value, shape]) }
    },
    "FILL": { context, operation in
      let shape = try context.int64(try context.input(0, of: operation))
      try context.move(operation, input: 1) { context, value in
        context.add("Expand", [value, shape])
      }
    },
    "TILE": { context, operation in
      let repeats = try context.int64(try context.input(1, of: operation))
      try context.move(operation) { context, value in context.add("Tile", [value, repeats]) }
    },
    "RANGE": { context, operation in
      let values = try (0..<3).map { try context.stored(try context.input($0, of: operation)) }
      context.bind(context.add("Range", values), to: try context.output(0, of: operation))
    },
  ]

  private static let reshape: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    var shape: [Int]?
    if context.hasInput(1, of: operation) {
      shape = try context.constantInts(try context.input(1, of: operation))
    } else {
      shape = try operation.ints(0)
    }
    let computed =
      shape == nil && context.hasInput(1, of: operation)
      ? try context.int64(try context.input(1, of: operation)) : nil
    guard computed == nil else {
      return try context.move(operation) { context, value in
        context.add("Reshape", [value, computed ?? ""])
      }
    }
    let declared = try context.output(0, of: operation).fixedShape?.dimensions
    guard let target = shape ?? declared else {
      throw GraftError(.unsupported, "the shape is nowhere stated")
    }
    // A picture of one point has its values in the same order with the channels in front.
    let isPoint = input.fixedShape.map { $0.rank == 4 && $0[1] == 1 && $0[2] == 1 } ?? false
    let isChannelsFirst = isPoint && context.prefersChannelsFirst(input)
    try context.move(
      operation, channelsFirst: isChannelsFirst, outputsChannelsFirst: false
    ) { context, value in
      context.add("Reshape", [value, try context.ints(keepingBatch(target, input))])
    }
  }

  /// 0 stands for the size that the input has, so that a batch of another size passes as well.
  private static func keepingBatch(_ target: [Int], _ input: TFLiteTensor) -> [Int] {
    guard let shape = input.fixedShape, let first = target.first, shape.rank > 0, first > 0,
      shape[0] == first
    else { return target }
    return [0] + target.dropFirst()
  }

  private static let squeeze: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    var axes = try operation.ints(0) ?? []
    if axes.isEmpty {
      guard let shape = input.fixedShape else {
        throw GraftError(.unsupported, "it takes out all axes of size 1 of an open shape")
      }
      axes = shape.indices.filter { shape[$0] == 1 }
    }
    axes = try axes.map { try context.axis($0, of: input) }
    let isChannelsFirst =
      context.prefersChannelsFirst(input) && (Set(axes) == [1, 2] || Set(axes) == [0, 1, 2])
    if isChannelsFirst { axes = try axes.map(LoweringContext.channelsFirstAxis) }
    try context.move(
      operation, channelsFirst: isChannelsFirst, outputsChannelsFirst: false
    ) { context, value in
      context.add("Squeeze", [value, try context.ints(axes)])
    }
  }
}
