import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let reductions: [String: Rule] = [
    "MEAN": reduction("ReduceMean"), "SUM": reduction("ReduceSum"),
    "REDUCE_PROD": reduction("ReduceProd"), "REDUCE_MAX": reduction("ReduceMax"),
    "REDUCE_MIN": reduction("ReduceMin"), "REDUCE_ANY": truth("ReduceMax"),
    "REDUCE_ALL": truth("ReduceMin"),
    "ARG_MAX": extremum("ArgMax"), "ARG_MIN": extremum("ArgMin"),
    "CUMSUM": { context, operation in
      let axis = try context.input(1, of: operation)
      let attributes: [String: Attribute] = [
        "exclusive": .int(try operation.flag(0) ? 1 : 0),
        "reverse": .int(try operation.flag(1) ? 1 : 0),
      ]
      let (input, output) = (
        try context.input(0, of: operation), try context.output(0, of: operation)
      )
      let isReal = context.isReal(input)
      let value = context.add(
        "CumSum",
        [isReal ? try context.float(input) : try context.stored(input), try context.stored(axis)],
        attributes)
      if isReal { return try context.store(value, as: output) }
      context.bind(value, to: output)
    },
  ]

  private static func reduction(_ op: String) -> Rule {
    { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      let axes = try context.requiredInts(1, of: operation)
      let keepsAxes = try operation.flag(0)
      let order = context.order(afterReducing: input, axes, keepsAxes: keepsAxes)
      let isReal = context.isReal(input)
      let value =
        isReal
        ? try context.float(input, channelsFirst: order != .asStored)
        : try context.stored(input, channelsFirst: order != .asStored)
      let mapped = order == .asStored ? axes : axes.map { [0, 2, 3, 1][$0 < 0 ? $0 + 4 : $0] }
      let reduced = context.add(
        op, [value, try context.ints(mapped)], ["keepdims": .int(keepsAxes ? 1 : 0)])
      let isChannelsFirst = order == .channelsFirst
      if isReal { return try context.store(reduced, as: output, channelsFirst: isChannelsFirst) }
      context.bind(reduced, to: output, channelsFirst: isChannelsFirst)
    }
  }

  /// Whether any or all are true.
  private static func truth(_ op: String) -> Rule {
    { context, operation in
      let axes = try context.requiredInts(1, of: operation)
      let numbers = context.add(
        "Cast", [try context.stored(try context.input(0, of: operation))],
        ["to": .int(ElementType.int32.rawValue)])
      let reduced = context.add(
        op, [numbers, try context.ints(axes)],
        ["keepdims": .int(try operation.flag(0) ? 1 : 0)])
      context.bind(
        context.add("Cast", [reduced], ["to": .int(ElementType.bool.rawValue)]),
        to: try context.output(0, of: operation))
    }
  }

  /// The index of the largest or smallest element, the first of equals.
  private static func extremum(_ op: String) -> Rule {
    { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard let axis = try context.requiredInts(1, of: operation).first else {
        throw GraftError(.damaged, "it names no axis")
      }
      // Stored integers are in the order of what they mean.
      let value =
        [.int8, .uint8, .int32, .int64].contains(input.elementType)
        ? try context.stored(input) : try context.float(input)
      let index = context.add(op, [value], ["axis": .int(axis), "keepdims": .int(0)])
      context.bind(try context.indices(index, as: output), to: output)
    }
  }
}

extension LoweringContext {
  /// How the axes of a reduced picture lie.
  enum ReducedOrder {
    /// The picture is read as the file has it.
    case asStored
    /// It is read with the channels in front, and what is left is so as well.
    case channelsFirst
    /// It is read with the channels in front, and what is left is as in the file.
    case eitherWay
  }

  fileprivate func order(afterReducing input: TFLiteTensor, _ axes: [Int], keepsAxes: Bool)
    -> ReducedOrder
  {
    guard prefersChannelsFirst(input), axes.allSatisfy({ (-4..<4).contains($0) }) else {
      return .asStored
    }
    if keepsAxes { return .channelsFirst }
    let reduced = Set(axes.map { $0 < 0 ? $0 + 4 : $0 })
    return reduced.contains(3) || reduced.isSuperset(of: [1, 2]) ? .eitherWay : .asStored
  }

  /// Indices, which ONNX has as int64, in the type of a tensor.
  mutating func indices(_ value: String, as tensor: TFLiteTensor) throws -> String {
    guard let type = tensor.elementType, type != .int64 else { return value }
    return add("Cast", [value], ["to": .int(type.rawValue)])
  }

  /// A tensor of whole numbers as int64, which ONNX wants for shapes and indices.
  mutating func int64(_ tensor: TFLiteTensor) throws -> String {
    if let constant = try constantInts(tensor),
      let shape = constantOrigin(of: tensor.index)?.fixedShape,
      shape.rank == 1
    {
      return try ints(constant)
    }
    let value = try stored(tensor)
    return tensor.elementType == .int64
      ? value : add("Cast", [value], ["to": .int(ElementType.int64.rawValue)])
  }
}
