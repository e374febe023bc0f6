import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let reshapings: [String: Rule] = [
    "Reshape": { context, node in try reshape(&context, node, computedBy: 1) },
    "Flatten": { context, node in try reshape(&context, node) },
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Expand": { context, node in
      let input = try context.required(0, of: node)
      let open = context.open(node.outputs[0])
      if try context.type(input) == context.type(node.outputs[0]),
        context.open(input) == open
      {
        return try alias(&context, node)
      }
      let sizes =
        open.isEmpty
        ? context.ints(try context.shape(node.outputs[0]).dimensions)
        : context.int32(try context.tensor(try context.required(1, of: node)))
      try context.emit(
        "BROADCAST_TO", [try context.tensor(input), sizes], for: node.outputs[0])
    },
    "Tile": { context, node in
      let input = try context.required(0, of: node)
      let counts = try context.constantInts(1, of: node) ?? []
      try context.emit(
        "TILE", [try context.tensor(input), context.ints(counts)], for: node.outputs[0])
    },
    "DepthToSpace": { context, node in
      guard try node.string("mode", default: "DCR") == "DCR" else {
        throw GraftError(.unsupported, "mode CRD")
      }
      try blocks(&context, node, "DEPTH_TO_SPACE")
    },
    "SpaceToDepth": { context, node in try blocks(&context, node, "SPACE_TO_DEPTH") },
  ]

  static let shapeComputations: [String: Rule] = [
    "Shape": { context, node in
      let input = try context.required(0, of: node)
      let rank = try context.shape(input).rank
      func bound(_ name: String, _ standard: Int) throws -> Int {
        let value = try node.int(name, default: standard)
        return max(0, min(rank, value < 0 ? value + rank : value))
      }
      let (start, end) = (try bound("start", 0), try bound("end", rank))
      guard start < end else { throw GraftError(.unsupported, "no sizes") }
      let tensor = try context.tensor(input)
      let sizes = context.sizes((start..<end).map { .size(of: tensor, axis: $0) })
      context.bind(node.outputs[0], context.cast(sizes, to: .int64), order: [0])
    },
    "ConstantOfShape": { context, node in
      let value = node.has("value") ? try node.tensor("value") : try Tensor(zeros: [1])
      let scalar = context.constantTensor(
        try value.reshaped(to: []), named: "value", key: "fill \(node.outputs[0])")
      let sizes = context.int32(try context.tensor(try context.required(0, of: node)))
      try context.emit("FILL", [sizes, scalar], for: node.outputs[0])
    },
    "Range": { context, node in
      let bounds = try (0..<3).map { context.int32(try context.tensor(node.inputs[$0])) }
      guard try context.type(node.inputs[0]).elementType != .float32 else {
        throw GraftError(.unsupported, "a range of floats that is computed")
      }
      var range = try context.description(of: node.outputs[0])
      range.elementType = .int32
      let made = context.emit("RANGE", bounds, as: range)
      context.bind(
        node.outputs[0], context.cast(made, to: try context.type(node.outputs[0]).elementType),
        order: [0])
    },
  ]

  /// The order of elements stays; only the shape changes.
  ///
  /// - Parameter index: of the input that the shape comes from, for shapes with several open sizes.
  private static func reshape(
    _ context: inout WritingContext, _ node: Node, computedBy index: Int? = nil
  ) throws {
    let input = try context.required(0, of: node)
    let output = node.outputs[0]
    let target = try context.description(of: output)
    let source = try context.inElementOrder(input)
    if target.open.count <= 1 {
      let tensor = context.reshaped(source, to: target)
      return context.bind(output, tensor, order: Array(target.shape.indices))
    }
    guard let index, let shape = context.input(index, of: node) else {
      throw GraftError(.unsupported, "a result with several open sizes")
    }
    let sizes: Int
    if let constant = try context.constant(shape).map({ _ in
      try context.constantInts(index, of: node) ?? []
    }) {
      // 0 stands for a size of the input.
      let whole = try context.tensor(input)
      sizes = context.sizes(
        constant.enumerated().map { axis, size in
          size == 0 ? .size(of: whole, axis: axis) : .fixed(size)
        })
    } else {
      sizes = context.int32(try context.tensor(shape))
    }
    try context.emit("RESHAPE", [source, sizes], for: output)
  }

  private static let squeeze: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let named = try context.constantInts(1, of: node)
    let axes =
      try named?.map(shape.axis)
      ?? shape.indices.filter { shape[$0] == 1 && !context.open(input).contains($0) }
    let order = try context.order(of: input)
    let places = order.indices.filter { axes.contains(order[$0]) }
    let result = order.filter { !axes.contains($0) }
      .map { axis in axis - axes.filter { $0 < axis }.count }
    let source = try context.tensor(input, order: order)
    guard !places.isEmpty else { return context.bind(node.outputs[0], source, order: result) }
    let options = TFLiteOptions.make { $0.integers(0, places.map { Int32($0) }) }
    try context.emit("SQUEEZE", [source], for: node.outputs[0], order: result, options: options)
  }

  private static let unsqueeze: Rule = { context, node in
    let input = try context.required(0, of: node)
    let output = node.outputs[0]
    let rank = try context.shape(output).rank
    let axes = try (context.constantInts(1, of: node) ?? []).map { $0 < 0 ? $0 + rank : $0 }
    if context.open(output).count <= 1 { return try reshape(&context, node) }
    var tensor = try context.tensor(input)
    for axis in axes.sorted() {
      var value = context.draft.values[tensor]
      value.name = output
      guard axis <= value.shape.count else { throw GraftError(.damaged, "its axes are \(axes)") }
      value.shape.insert(1, at: axis)
      value.open = Set(value.open.map { $0 >= axis ? $0 + 1 : $0 })
      tensor = context.emit("EXPAND_DIMS", [tensor, context.int(axis)], as: value)
    }
    context.bind(output, tensor, order: Array(0..<rank))
  }

  /// The same tensors, with their axes seen in another order.
  private static let transpose: Rule = { context, node in
    let input = try context.required(0, of: node)
    let rank = try context.shape(input).rank
    let permutation = try node.ints("perm", default: (0..<rank).reversed())
    let identity = Array(0..<rank)
    if context.forms[input] == nil { _ = try context.bound(input) }
    for form in context.forms[input] ?? [] {
      let order = form.order.map { axis in permutation.firstIndex(of: axis) ?? 0 }
      context.bind(node.outputs[0], form.tensor, order: order)
    }
    // A result of the model is wanted in its own order, under its own name.
    if context.graph.outputs.contains(where: { $0.name == node.outputs[0] }),
      permutation != identity
    {
      _ = try context.tensor(node.outputs[0])
    }
  }

  private static func blocks(_ context: inout WritingContext, _ node: Node, _ op: String) throws {
    let size = try node.int("blocksize")
    try context.emit(
      op, [try context.tensor(try context.required(0, of: node), order: [0, 2, 3, 1])],
      for: node.outputs[0], order: [0, 2, 3, 1], options: TFLiteOptions.integer(size))
  }
}

extension WritingContext {
  /// A tensor whose elements lie in the order of a value's own axes: any one in which only axes of
  /// size 1 have moved.
  fileprivate mutating func inElementOrder(_ value: String) throws -> Int {
    let shape = try shape(value)
    let open = open(value)
    let found = forms[value]?.first { form in
      let moving = form.order.filter { shape[$0] != 1 || open.contains($0) }
      return moving == moving.sorted()
    }
    return try found?.tensor ?? tensor(value)
  }

  /// A tensor of a value, which then has a form.
  fileprivate mutating func bound(_ value: String) throws -> Int {
    let tensor = try tensor(value)
    if forms[value] == nil { bind(value, tensor, order: Array(try shape(value).indices)) }
    return tensor
  }
}
