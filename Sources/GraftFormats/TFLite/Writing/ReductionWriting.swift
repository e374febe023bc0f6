import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let reductions: [String: Rule] = [
    "ReduceMean": reduce("MEAN"), "ReduceSum": reduce("SUM"), "ReduceMax": reduce("REDUCE_MAX"),
    "ReduceMin": reduce("REDUCE_MIN"), "ReduceProd": reduce("REDUCE_PROD"),
    "ReduceSumSquare": reduce("SUM", of: "MUL"), "ReduceL1": reduce("SUM", of: "ABS"),
    "ReduceL2": reduce("SUM", of: "MUL", behind: "SQRT"),
    "ReduceLogSum": reduce("SUM", behind: "LOG"),
    "ArgMax": extremum("ARG_MAX"), "ArgMin": extremum("ARG_MIN"),
    "CumSum": { context, node in
      let input = try context.required(0, of: node)
      guard let axis = try context.constantInts(1, of: node)?.first else {
        throw GraftError(.damaged, "it names no axis")
      }
      let flags = try ["exclusive", "reverse"].map { try node.int($0, default: 0) != 0 }
      let options = TFLiteOptions.make {
        $0.bool(0, flags[0])
        $0.bool(1, flags[1])
      }
      let place = try context.shape(input).axis(axis)
      try context.emit(
        "CUMSUM", [try context.tensor(input), context.int(place)], for: node.outputs[0],
        options: options)
    },
  ]

  /// - Parameters:
  ///   - inner: what is done with every element; MUL means its square.
  ///   - outer: what is done with the result.
  private static func reduce(_ op: String, of inner: String? = nil, behind outer: String? = nil)
    -> Rule
  {
    { context, node in
      let input = try context.required(0, of: node)
      let shape = try context.shape(input)
      let keepsAxes = try node.int("keepdims", default: 1) != 0
      var axes = try context.constantInts(1, of: node) ?? []
      if axes.isEmpty {
        if try node.int("noop_with_empty_axes", default: 0) != 0 {
          throw GraftError(.unsupported, "no axes")
        }
        axes = Array(shape.indices)
      }
      let isTruth = try context.type(input).elementType == .bool
      let truth = ["REDUCE_MAX": "REDUCE_ANY", "REDUCE_MIN": "REDUCE_ALL"][op] ?? op
      try context.emitReduction(
        isTruth ? truth : op, input, axes: try axes.map(shape.axis), keepsAxes: keepsAxes,
        for: node.outputs[0],
        of: inner, behind: outer)
    }
  }

  private static func extremum(_ op: String) -> Rule {
    { context, node in
      guard try node.int("select_last_index", default: 0) == 0 else {
        throw GraftError(.unsupported, "the last of equal elements")
      }
      let input = try context.required(0, of: node)
      let axis = try context.shape(input).axis(try node.int("axis", default: 0))
      let order = try context.order(of: input)
      let place = order.firstIndex(of: axis) ?? 0
      let tensor = try context.tensor(input, order: order)
      let options = TFLiteOptions.make {
        $0.integer(0, TFLiteSchema.number(of: .int64) ?? 4)
      }
      let left = order.filter { $0 != axis }
      guard try node.int("keepdims", default: 1) != 0 else {
        return try context.emit(
          op, [tensor, context.int(place)], for: node.outputs[0],
          order: left.map { $0 > axis ? $0 - 1 : $0 }, options: options)
      }
      let kept = try context.description(of: node.outputs[0], order: order)
      var reduced = kept
      reduced.name += "/reduced"
      reduced.shape.remove(at: place)
      reduced.open = Set(reduced.open.map { $0 > place ? $0 - 1 : $0 })
      let index = context.emit(op, [tensor, context.int(place)], as: reduced, options: options)
      try context.emit(
        "EXPAND_DIMS", [index, context.int(place)], for: node.outputs[0], order: order)
    }
  }
}

extension WritingContext {
  /// A reduction over axes of a value, in whatever order they are.
  mutating func emitReduction(
    _ op: String, _ input: String, axes: [Int], keepsAxes: Bool, for value: String,
    of inner: String? = nil, behind outer: String? = nil
  ) throws {
    let order = try order(of: input)
    var tensor = try tensor(input, order: order)
    if let inner {
      let operands = inner == "MUL" ? [tensor, tensor] : [tensor]
      tensor = emit(
        inner, operands, like: tensor, named: value + "/elements",
        options: inner == "MUL" ? TFLiteOptions.activation(.none) : nil)
    }
    let places = order.indices.filter { axes.contains(order[$0]) }
    let left = order.filter { !axes.contains($0) }
    // Where axes vanish, the ones behind them move up.
    let result =
      keepsAxes ? order : left.map { axis in axis - axes.filter { $0 < axis }.count }
    let options = TFLiteOptions.flag(keepsAxes)
    guard let outer else {
      return try emit(
        op, [tensor, ints(places)], for: value, order: result, options: options)
    }
    var reduced = try description(of: value, order: result)
    reduced.name += "/reduced"
    let made = emit(op, [tensor, ints(places)], as: reduced, options: options)
    try emit(outer, [made], for: value, order: result)
  }
}
