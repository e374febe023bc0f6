import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let slicings: [String: Rule] = ["Slice": slice]

  static let paddings: [String: Rule] = ["Pad": pad]

  private static let slice: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let order = try context.order(of: input)
    let starts = try Bounds(1, of: node, &context)
    let ends = try Bounds(2, of: node, &context)
    let axes = try context.constantInts(3, of: node) ?? Array(starts.indices)
    let steps = try context.constantInts(4, of: node) ?? axes.map { _ in 1 }
    var frame = SliceFrame(rank: order.count)
    for (index, axis) in try axes.map(shape.axis).enumerated() {
      frame.cut(
        order.firstIndex(of: axis) ?? 0,
        size: context.open(input).contains(axis) ? Int(Int32.max) : shape[axis],
        from: starts[index], to: ends[index], step: steps[index])
    }
    let operands = [
      try context.tensor(input, order: order), context.sizes(frame.begins),
      context.sizes(frame.ends), context.ints(frame.steps),
    ]
    try context.emit(
      "STRIDED_SLICE", operands, for: node.outputs[0], order: order, options: frame.options)
  }

  /// Where slices begin or end.
  private struct Bounds {
    private let fixed: [Int]?
    private let tensor: Int
    private let count: Int

    init(_ index: Int, of node: Node, _ context: inout WritingContext) throws {
      let name = try context.required(index, of: node)
      count = try context.shape(name).elementCount
      fixed = context.constant(name) == nil ? nil : try context.constantInts(index, of: node)
      tensor = fixed == nil ? try context.tensor(name) : 0
    }

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> WritingContext.Size {
      fixed.map { .fixed($0[index]) } ?? .element(of: tensor, index: index)
    }
  }

  private static let pad: Rule = { context, node in
    let input = try context.required(0, of: node)
    let order = try context.order(of: input)
    let amounts = try padAmounts(&context, node, order)
    let operands = [try context.tensor(input, order: order), amounts]
    switch try node.string("mode", default: "constant") {
    case "constant":
      guard let filler = context.input(2, of: node), context.constant(filler)?.number != 0 else {
        return try context.emit("PAD", operands, for: node.outputs[0], order: order)
      }
      let value = try context.constantInput(2, of: node).reshaped(to: [])
      let scalar = context.constantTensor(value, named: filler, key: "scalar \(filler)")
      try context.emit("PADV2", operands + [scalar], for: node.outputs[0], order: order)
    case "reflect":
      try context.emit(
        "MIRROR_PAD", operands, for: node.outputs[0], order: order,
        options: TFLiteOptions.make { $0.integer(0, Int8(0)) })
    case let mode: throw GraftError(.unsupported, "mode '\(mode)'")
    }
  }

  /// A matrix [rank, 2] with the padding before and after each axis of the input's tensor.
  private static func padAmounts(
    _ context: inout WritingContext, _ node: Node, _ order: [Int]
  ) throws -> Int {
    let shape = try context.shape(try context.required(0, of: node))
    let pads = try Bounds(1, of: node, &context)
    let axes = try context.constantInts(3, of: node)?.map(shape.axis) ?? Array(shape.indices)
    guard pads.indices.count == 2 * axes.count else {
      throw GraftError(.damaged, "it has \(pads.indices.count) pads for \(axes.count) axes")
    }
    var amounts = [WritingContext.Size](repeating: .fixed(0), count: 2 * shape.rank)
    for (index, axis) in axes.enumerated() {
      let place = order.firstIndex(of: axis) ?? 0
      amounts[2 * place] = pads[index]
      amounts[2 * place + 1] = pads[index + axes.count]
    }
    let fixed = amounts.compactMap { amount -> Int? in
      if case .fixed(let count) = amount { count } else { nil }
    }
    guard fixed.allSatisfy({ $0 >= 0 }) else { throw GraftError(.unsupported, "negative pads") }
    if fixed.count == amounts.count {
      return context.matrix(shape.indices.map { [fixed[2 * $0], fixed[2 * $0 + 1]] })
    }
    let matrix = TFLiteDraft.Value(
      name: node.outputs[0] + "/pads", elementType: .int32, shape: [shape.rank, 2])
    return context.reshaped(context.sizes(amounts), to: matrix)
  }
}

/// What is cut out of a tensor: axes that are not cut are whole.
private struct SliceFrame {
  private(set) var begins: [WritingContext.Size]
  private(set) var ends: [WritingContext.Size]
  private(set) var steps: [Int]
  /// Bits for axes that are taken from their first element, or to their last.
  private var openBegins: Int32 = 0
  private var openEnds: Int32 = 0

  init(rank: Int) {
    begins = [WritingContext.Size](repeating: .fixed(0), count: rank)
    ends = begins
    steps = [Int](repeating: 1, count: rank)
    for axis in 0..<rank {
      openBegins |= 1 << Int32(axis)
      openEnds |= 1 << Int32(axis)
    }
  }

  mutating func cut(
    _ axis: Int, size: Int, from begin: WritingContext.Size, to end: WritingContext.Size, step: Int
  ) {
    begins[axis] = begin
    ends[axis] = end
    steps[axis] = step
    let bit: Int32 = 1 << Int32(axis)
    openBegins &= ~bit
    openEnds &= ~bit
    // A bound beyond the axis is an open one.
    if case .fixed(let limit) = end, step > 0 ? limit >= size : limit < -size { openEnds |= bit }
    if case .fixed(let start) = begin, step < 0, start >= size { openBegins |= bit }
  }

  var options: FlatBufferWriter {
    TFLiteOptions.make {
      $0.integer(0, openBegins)
      $0.integer(1, openEnds)
      for field in 2..<5 { $0.integer(field, Int32(0)) }
    }
  }
}
