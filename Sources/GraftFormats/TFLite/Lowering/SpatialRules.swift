import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let spatialRules: [String: Rule] = [
    "RESIZE_BILINEAR": { context, operation in
      let centers = try coordinates(
        alignCorners: try operation.flag(2), halfPixel: try operation.flag(3))
      try resize(
        &context, operation,
        ["mode": .string("linear"), "coordinate_transformation_mode": .string(centers)])
    },
    "RESIZE_NEAREST_NEIGHBOR": { context, operation in
      let alignCorners = try operation.flag(0)
      let centers = try coordinates(
        alignCorners: alignCorners, halfPixel: try operation.flag(1))
      // Asymmetric coordinates are cut off; others go to the nearest, upwards between two.
      let rounding = centers == "asymmetric" ? "floor" : "round_prefer_ceil"
      try resize(
        &context, operation,
        [
          "mode": .string("nearest"), "coordinate_transformation_mode": .string(centers),
          "nearest_mode": .string(rounding),
        ])
    },
    "DEPTH_TO_SPACE": blocks("DepthToSpace"),
    "SPACE_TO_DEPTH": blocks("SpaceToDepth"),
    "SPACE_TO_BATCH_ND": spaceToBatch,
    "BATCH_TO_SPACE_ND": batchToSpace,
    "LOCAL_RESPONSE_NORMALIZATION": { context, operation in
      let radius = try operation.int(0)
      let size = 2 * radius + 1
      guard size > 0 else { throw GraftError(.damaged, "its radius is negative") }
      let attributes: [String: Attribute] = [
        "size": .int(size), "bias": .float(try operation.float(1)),
        // ONNX divides by the size.
        "alpha": .float((try operation.float(2)) * Float(size)),
        "beta": .float(try operation.float(3)),
      ]
      let input = try context.float(try context.input(0, of: operation), channelsFirst: true)
      try context.store(
        context.add("LRN", [input], attributes), as: try context.output(0, of: operation),
        channelsFirst: true)
    },
  ]

  private static func coordinates(alignCorners: Bool, halfPixel: Bool) throws -> String {
    guard !(alignCorners && halfPixel) else {
      throw GraftError(.damaged, "both 'align corners' and 'half pixel centers' are set")
    }
    return alignCorners ? "align_corners" : halfPixel ? "half_pixel" : "asymmetric"
  }

  private static func resize(
    _ context: inout LoweringContext, _ operation: TFLiteOperator,
    _ attributes: [String: Attribute]
  ) throws {
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    let sizes = try context.int64(try context.input(1, of: operation))
    var attributes = attributes
    attributes["axes"] = .ints([2, 3])
    let isNearest = attributes["nearest_mode"] != nil
    if isNearest {
      return try context.move(operation, channelsFirst: true) { context, value in
        context.add("Resize", [value, "", "", sizes], attributes)
      }
    }
    let value = context.add(
      "Resize", [try context.float(input, channelsFirst: true), "", "", sizes], attributes)
    try context.store(value, as: output, channelsFirst: true)
  }

  /// Blocks of points as channels, or the other way around.
  private static func blocks(_ op: String) -> Rule {
    { context, operation in
      let size = try operation.int(0)
      guard size > 0 else { throw GraftError(.damaged, "its block size is \(size)") }
      try context.move(operation, channelsFirst: true) { context, value in
        context.add(op, [value], ["blocksize": .int(size)])
      }
    }
  }

  /// Every block of points becomes as many pictures.
  private static let spaceToBatch: Rule = { context, operation in
    let block = try blockSizes(&context, operation)
    let pads = try context.int64(try context.input(2, of: operation))
    let zero = try context.storedZero(
      of: try context.input(0, of: operation), try context.output(0, of: operation))
    try context.move(operation) { context, value in
      let turned = context.add(
        "Reshape",
        [context.add("Transpose", [pads], ["perm": .ints([1, 0])]), try context.ints([-1])])
      let axes = try context.ints(block.indices.map { $0 + 1 })
      let padded = context.add("Pad", [value, turned, zero ?? "", axes])
      // [batch, rows, block, columns, block, rest], then the blocks in front.
      let sizes = context.add("Shape", [padded])
      func size(_ axis: Int) throws -> String {
        context.add("Gather", [sizes, try context.ints([axis])])
      }
      var parts = [try size(0)]
      for (axis, count) in block.enumerated() {
        let divisor = try context.ints([count])
        parts += [context.add("Div", [try size(axis + 1), divisor]), divisor]
      }
      let rest = context.add("Shape", [padded], ["start": .int(block.count + 1)])
      let split = context.add(
        "Reshape", [padded, context.add("Concat", parts + [rest], ["axis": .int(0)])])
      let rank = try restRank(context, operation, block)
      let axesInFront = block.indices.map { 2 + 2 * $0 }
      let spatial = block.indices.map { 1 + 2 * $0 }
      let order =
        axesInFront + [0] + spatial + (0..<rank).map { 1 + 2 * block.count + $0 }
      let moved = context.add("Transpose", [split], ["perm": .ints(order)])
      let end = context.add("Shape", [moved], ["start": .int(block.count + 1)])
      let shape = context.add("Concat", [try context.ints([-1]), end], ["axis": .int(0)])
      return context.add("Reshape", [moved, shape])
    }
  }

  /// As many pictures become blocks of points.
  private static let batchToSpace: Rule = { context, operation in
    let block = try blockSizes(&context, operation)
    let crops = try context.input(2, of: operation)
    let constantCrops = try context.constantInts(crops)
    let cropped = try context.int64(crops)
    let rank = try restRank(context, operation, block)
    try context.move(operation) { context, value in
      // [blocks, batch, rows, columns, rest], then every block behind its axis.
      let tail = context.add("Shape", [value], ["start": .int(1)])
      let split = context.add(
        "Reshape",
        [
          value,
          context.add("Concat", [try context.ints(block + [-1]), tail], ["axis": .int(0)]),
        ])
      let count = block.count
      let order =
        [count] + block.indices.flatMap { [count + 1 + $0, $0] }
        + (0..<rank).map { 2 * count + 1 + $0 }
      let moved = context.add("Transpose", [split], ["perm": .ints(order)])
      let sizes = context.add("Shape", [value])
      var parts = [try context.ints([-1])]
      for (axis, size) in block.enumerated() {
        let old = context.add("Gather", [sizes, try context.ints([axis + 1])])
        parts.append(context.add("Mul", [old, try context.ints([size])]))
      }
      let rest = context.add("Shape", [value], ["start": .int(count + 1)])
      let whole = context.add(
        "Reshape", [moved, context.add("Concat", parts + [rest], ["axis": .int(0)])])
      if constantCrops?.allSatisfy({ $0 == 0 }) == true { return whole }
      let begins = try context.column(0, of: cropped)
      let large = context.add(
        "Shape", [whole], ["start": .int(1), "end": .int(count + 1)])
      let ends = context.add("Sub", [large, try context.column(1, of: cropped)])
      return context.add(
        "Slice", [whole, begins, ends, try context.ints(block.indices.map { $0 + 1 })])
    }
  }

  private static func blockSizes(_ context: inout LoweringContext, _ operation: TFLiteOperator)
    throws -> [Int]
  {
    let sizes = try context.requiredInts(1, of: operation)
    guard (1...2).contains(sizes.count), sizes.allSatisfy({ 1...65_536 ~= $0 }) else {
      throw GraftError(.damaged, "its block sizes are \(sizes)")
    }
    return sizes
  }

  /// How many axes stand behind those that are divided into blocks.
  private static func restRank(
    _ context: LoweringContext, _ operation: TFLiteOperator, _ block: [Int]
  ) throws -> Int {
    let shapes = [try context.input(0, of: operation), try context.output(0, of: operation)]
    guard let rank = shapes.compactMap({ $0.shape?.count }).first, rank > block.count else {
      throw GraftError(.unsupported, "the rank of its input is unknown")
    }
    return rank - 1 - block.count
  }
}

extension LoweringContext {
  /// A column of a matrix with two columns.
  fileprivate mutating func column(_ index: Int, of matrix: String) throws -> String {
    add("Squeeze", [add("Gather", [matrix, try ints([index])], ["axis": .int(1)]), try ints([1])])
  }
}
