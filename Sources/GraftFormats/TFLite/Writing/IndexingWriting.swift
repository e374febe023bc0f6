import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let indexings: [String: Rule] = [
    "Gather": gather,
    "GatherND": { context, node in
      guard try node.int("batch_dims", default: 0) == 0 else {
        throw GraftError(.unsupported, "batch axes")
      }
      if let places = context.constant(try context.required(1, of: node))?.ints,
        places.contains(where: { $0 < 0 })
      {
        throw GraftError(.unsupported, "places counted from the end")
      }
      try context.emit(
        "GATHER_ND", try node.inputs.map { try context.tensor($0) }, for: node.outputs[0])
    },
    "TopK": topK,
    "OneHot": { context, node in
      let axis = try node.int("axis", default: -1)
      let pair = try context.constantInput(2, of: node)
      let depth = try context.constantInput(1, of: node).number.flatMap { Int(exactly: $0) }
      let indices = try context.type(try context.required(0, of: node)).elementType
      guard let depth, pair.elementCount == 2, ElementType.integers.contains(indices) else {
        throw GraftError(.unsupported, "a depth or indices that are no whole numbers")
      }
      let off = context.constantTensor(
        try pair.rows(0..<1).reshaped(to: []), named: "off", key: "off \(node.outputs[0])")
      let on = context.constantTensor(
        try pair.rows(1..<2).reshaped(to: []), named: "on", key: "on \(node.outputs[0])")
      try context.emit(
        "ONE_HOT",
        [
          try context.tensor(try context.required(0, of: node)), context.int(depth), on, off,
        ], for: node.outputs[0], options: TFLiteOptions.integer(axis))
    },
  ]

  private static let gather: Rule = { context, node in
    let (input, indices) = (try context.required(0, of: node), try context.required(1, of: node))
    let axis = try context.shape(input).axis(try node.int("axis", default: 0))
    var places = try context.tensor(indices)
    if let constant = context.constant(indices), let numbers = constant.ints,
      numbers.contains(where: { $0 < 0 })
    {
      let size = try context.shape(input)[axis]
      guard !context.open(input).contains(axis) else {
        throw GraftError(.unsupported, "places counted from an open end")
      }
      let counted = try Tensor(
        numbers.map { Int64($0 < 0 ? $0 + size : $0) }, shape: constant.shape)
      places = context.constantTensor(
        counted, named: indices, key: "places \(indices) \(size)")
    }
    let options = TFLiteOptions.integer(axis)
    guard axis == 0, let table = context.constant(input), table.elementType == .float32 else {
      return try context.emit(
        "GATHER", [try context.tensor(input), places], for: node.outputs[0], options: options)
    }
    let stored = try context.encoded(
      table, named: input, key: "\(input) table", axis: 0, .hybridWhole)
    guard context.draft.values[stored].elementType == .int8 else {
      return try context.emit(
        "GATHER", [stored, places], for: node.outputs[0], options: options)
    }
    // Only the rows that are taken are brought to floats.
    var rows = try context.description(of: node.outputs[0])
    rows.name += "/rows"
    rows.elementType = .int8
    rows.quantization = context.draft.values[stored].quantization
    let taken = context.emit("GATHER", [stored, places], as: rows, options: options)
    try context.emit("DEQUANTIZE", [taken], for: node.outputs[0])
  }

  private static let topK: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let axis = try shape.axis(try node.int("axis", default: -1))
    guard node.outputs.count == 2, axis == shape.rank - 1, try node.int("largest", default: 1) == 1,
      let count = try context.constantInts(1, of: node)?.first
    else { throw GraftError(.unsupported, "another axis than the last, or the smallest") }
    let values = context.draft.add(try context.description(of: node.outputs[0]))
    var places = try context.description(of: node.outputs[1])
    places.elementType = .int32
    let indices = context.draft.add(places)
    context.draft.operations.append(
      TFLiteDraft.Operation(
        name: "TOPK_V2", inputs: [try context.tensor(input), context.int(count)],
        outputs: [values, indices]))
    let order = Array(shape.indices)
    context.bind(node.outputs[0], values, order: order)
    if context.isRead(node.outputs[1]) {
      context.bind(node.outputs[1], context.cast(indices, to: .int64), order: order)
    }
  }
}
