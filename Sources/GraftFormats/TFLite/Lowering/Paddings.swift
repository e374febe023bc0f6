import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let paddings: [String: Rule] = [
    "PAD": { context, operation in try pad(&context, operation, filler: nil) },
    "PADV2": { context, operation in
      try pad(&context, operation, filler: try context.input(2, of: operation))
    },
    "MIRROR_PAD": mirrorPad,
  ]

  /// Pads [rank, 2]: before and after each axis.
  private static func pad(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, filler: TFLiteTensor?
  ) throws {
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    let amounts = try context.input(1, of: operation)
    let constant = try context.constantInts(amounts)
    let isChannelsFirst = context.prefersChannelsFirst(input) && constant?.count == 8
    let pads: String
    if let constant {
      let order = isChannelsFirst ? [0, 3, 1, 2] : Array(0..<constant.count / 2)
      pads = try context.ints(order.map { constant[2 * $0] } + order.map { constant[2 * $0 + 1] })
    } else {
      let turned = context.add(
        "Transpose", [try context.int64(amounts)], ["perm": .ints([1, 0])])
      pads = context.add("Reshape", [turned, try context.ints([-1])])
    }
    let tensors = [input] + (filler.map { [$0] } ?? [])
    try context.move(
      [input], to: [output], channelsFirst: isChannelsFirst
    ) { context, values in
      var inputs = [values[0], pads]
      if let filler {
        let isDirect = context.sharesQuantization(tensors + [output])
        inputs.append(isDirect ? try context.stored(filler) : try context.float(filler))
      } else if let zero = try context.storedZero(of: input, output) {
        inputs.append(zero)
      }
      return [context.add("Pad", inputs)]
    }
  }

  /// Pads with what is inside, with (mode 1) or without (mode 0) the edge itself.
  private static let mirrorPad: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let amounts = try context.requiredInts(1, of: operation)
    let isSymmetric = try operation.byte(0) == 1
    let axes = Array(0..<amounts.count / 2)
    guard isSymmetric else {
      let pads = axes.map { amounts[2 * $0] } + axes.map { amounts[2 * $0 + 1] }
      return try context.move(operation) { context, value in
        context.add(
          "Pad", [value, try context.ints(pads)], ["mode": .string("reflect")])
      }
    }
    guard let shape = input.fixedShape, shape.rank == axes.count,
      axes.allSatisfy({ axis in
        (0...shape[axis]).contains(amounts[2 * axis])
          && (0...shape[axis]).contains(amounts[2 * axis + 1])
      })
    else { throw GraftError(.unsupported, "padding with the mirrored edge of an open shape") }
    try context.move(operation) { context, value in
      try axes.reduce(value) { value, axis in
        let (before, after) = (amounts[2 * axis], amounts[2 * axis + 1])
        if before == 0, after == 0 { return value }
        let size = shape[axis]
        let indices =
          (0..<before).reversed() + Array(0..<size) + (size - after..<size).reversed()
        return context.add(
          "Gather", [value, try context.ints(indices)], ["axis": .int(axis)])
      }
    }
  }
}

extension LoweringContext {
  /// What fills for zero where integers are moved as they are stored; nil where 0 itself does.
  mutating func storedZero(of input: TFLiteTensor, _ output: TFLiteTensor) throws
    -> String?
  {
    guard isQuantized(input), sharesQuantization([input, output]),
      let zero = input.quantization?.zeroPoints.first, zero != 0, let type = input.elementType
    else { return nil }
    return initializer(try Tensor(integers: [zero], type, shape: []), named: "zero_point")
  }
}
